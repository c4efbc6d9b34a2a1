import { Hub, type Tab } from './hub.ts';
import type { FromHub, ToHub } from './messages.ts';

/** The worker's program. A browser without shared workers runs one for each tab. */
const hub = new Hub();
const scope = globalThis as unknown as MessagePort; // oxlint-disable-line typescript/no-unsafe-type-assertion

if ('onconnect' in globalThis)
  addEventListener('connect', (event) => event instanceof MessageEvent && event.ports.forEach(serve));
else serve(scope);

function serve(port: MessagePort): void {
  const tab: Tab = { send: (message: FromHub) => port.postMessage(message) };
  port.onmessage = ({ data }: MessageEvent<ToHub>) => hub.receive(tab, data); // oxlint-disable-line unicorn/prefer-add-event-listener -- it starts the port
}

setInterval(() => hub.beat(), 1000);
