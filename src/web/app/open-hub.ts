import type { FromHub } from '../hub/messages.ts';

/**
 * The address of the worker, set by the bundler. It changes with the worker's content, so that an old worker never
 * serves a new page.
 */
declare const HUB_PATH: string;

interface Port {
  postMessage(message: unknown): void;
}

export function openHub(receive: (message: FromHub) => void): Port {
  const url = trustedUrl(HUB_PATH);
  const listen = ({ data }: MessageEvent<FromHub>): void => receive(data);
  if (typeof SharedWorker === 'undefined') {
    const worker = new Worker(url, { type: 'module' });
    worker.addEventListener('message', listen);
    return worker;
  }
  const { port } = new SharedWorker(url, { type: 'module' });
  port.addEventListener('message', listen);
  port.start();
  return port;
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/** The page's policy accepts script addresses only from this function. */
function trustedUrl(path: string): string {
  const { trustedTypes: types } = globalThis as { trustedTypes?: TrustedTypes }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- not in TypeScript's library yet
  return types === undefined
    ? path
    : types.createPolicy('baton', { createScriptURL: (url) => url }).createScriptURL(path);
}
