// A service worker with one duty: when no page can be fetched, show the page that says so.
// It answers nothing else and keeps nothing of anybody.

interface Extendable extends Event {
  waitUntil(done: Promise<unknown>): void;
}
interface Fetching extends Extendable {
  readonly request: Request;
  readonly preloadResponse: Promise<Response | undefined>;
  respondWith(answer: Promise<Response>): void;
}
interface Worker extends EventTarget {
  readonly registration: ServiceWorkerRegistration;
  skipWaiting(): Promise<void>;
  addEventListener(name: "install" | "activate", act: (event: Extendable) => void): void;
  addEventListener(name: "fetch", act: (event: Fetching) => void): void;
}

const worker = self as unknown as Worker;
const SHELF = "offline-1";
const PAGE = "/offline";
const STYLE = "/static/build/kaizen.css";

worker.addEventListener("install", (event) => {
  const keep = async () => (await caches.open(SHELF)).addAll([PAGE, STYLE]);
  event.waitUntil(keep().then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  // Without it every page would wait for this worker to start before it is asked for.
  event.waitUntil(worker.registration.navigationPreload?.enable() ?? Promise.resolve());
});

worker.addEventListener("fetch", (event) => {
  const isStyle = new URL(event.request.url).pathname === STYLE;
  if (event.request.mode === "navigate") event.respondWith(orKept(navigate(event), PAGE));
  else if (isStyle) event.respondWith(orKept(fetch(event.request), STYLE));
});

async function navigate(event: Fetching): Promise<Response> {
  return (await event.preloadResponse) ?? fetch(event.request);
}

async function orKept(answer: Promise<Response>, address: string): Promise<Response> {
  try {
    return await answer;
  } catch {
    return (await caches.match(address)) ?? Response.error();
  }
}
