// Bundles the browser sources under static/ into static/build/. Run by `npm run build`.
import { rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { context, build } from "esbuild";

// Every browser we build for reads WOFF2: the older copies of each font are left out.
const onlyWoff2 = {
  name: "only-woff2",
  setup(building) {
    building.onLoad({ filter: /katex\.css$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      return { contents: source.replace(/, url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)/g, ""), loader: "css" };
    });
  },
};

const options = {
  absWorkingDir: import.meta.dirname,
  entryPoints: {
    shell: "static/ts/shell.ts",
    chat: "static/ts/chat.ts",
    inbox: "static/ts/inbox.ts",
    artifact: "static/ts/artifact.ts",
    agent: "static/ts/agent.ts",
    agent_editor: "static/ts/agent_editor.ts",
    offline: "static/ts/offline.ts",
    kaizen: "static/css/kaizen.css",
    admin: "static/css/admin.css",
    math: "static/css/math.css",
  },
  outdir: "static/build",
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2022", "chrome123", "firefox121", "safari17.5"],
  minify: true,
  sourcemap: false,
  legalComments: "linked",
  chunkNames: "chunks/[name]-[hash]",
  assetNames: "fonts/[name]-[hash]",
  plugins: [onlyWoff2],
  loader: { ".svg": "text", ".woff2": "file" },
  logLevel: "warning",
};

if (process.argv.includes("--watch")) {
  const watcher = await context({ ...options, logLevel: "info" });
  await watcher.watch();
} else {
  rmSync(new URL("static/build", import.meta.url), { recursive: true, force: true });
  await build(options);
}
