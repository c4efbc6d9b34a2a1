import { Server } from 'node:http';

/**
 * Preloaded into a daemon: makes requests fail like a broken server if their path contains the test's text; `cut`
 * breaks every open event stream, and an empty text ends the failures.
 */
let failing = '';
const streams = new Set();
const { emit } = Server.prototype; // oxlint-disable-line typescript/unbound-method -- called with its server

process.on('message', (text) => {
  if (text === 'cut') for (const response of streams) response.destroy();
  else failing = typeof text === 'string' ? text : '';
});
process.channel?.unref();

Server.prototype.emit = function (name, request, response, ...rest) {
  if (name !== 'request') return emit.call(this, name, request, response, ...rest);
  if (request.url.includes('/events')) {
    streams.add(response);
    response.once('close', () => streams.delete(response));
  }
  if (failing === '' || !request.url.includes(failing)) return emit.call(this, name, request, response, ...rest);
  request.resume();
  response.writeHead(503, { 'content-type': 'application/json' }).end('{"ok":false}');
  return true;
};
