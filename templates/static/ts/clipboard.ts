import { say } from "./strings.ts";
import { toast } from "./toasts.ts";

/** Puts text on the clipboard and says so. Browsers refuse on pages without TLS. */
export async function copy(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(done);
  } catch {
    toast(say.copyFailed());
  }
}
