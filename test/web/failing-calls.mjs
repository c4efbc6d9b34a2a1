import { Server } from 'node:http';

/**
 * Loaded into a daemon's process: requests whose path has the text that the test sent fail as a broken server would, `cut` cuts every open event
 * stream, and an empty text ends it.
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
