import type { ServerResponse } from 'node:http';
import { gzip } from 'node:zlib';
import { setFinish } from '../../api/http/respond.ts';
import { PAGE_HEADERS } from '../../api/page-access.ts';

/** Signs the status and the uncompressed body of a response. */
export type SignResponse = (status: number, body: string) => string;

/** Compresses large responses if the client accepts that, and signs responses to pages. */
export function finishResponses(response: ServerResponse, acceptsGzip: boolean, sign: SignResponse | undefined): void {
  let isSent = false;
  setFinish(response, {
    send: (status, headers, text) => {
      if (isSent) return;
      isSent = true;
      const signed = sign === undefined ? headers : [...headers, PAGE_HEADERS.answer, sign(status, text)];
      if (!acceptsGzip || text.length <= GZIP_FROM) return sendBody(response, status, signed, Buffer.from(text));
      gzip(text, { level: GZIP_LEVEL }, (error, bytes) => {
        if (error === null) sendBody(response, status, [...signed, 'content-encoding', 'gzip'], bytes);
        else sendBody(response, status, signed, Buffer.from(text));
      });
    },
    streamHeaders: () => (sign === undefined ? {} : { [PAGE_HEADERS.answer]: sign(200, '') }),
  });
}

function sendBody(response: ServerResponse, status: number, headers: readonly string[], body: Buffer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, [...headers, 'content-length', String(body.length)]);
  response.end(body);
}

/** Whether `Accept-Encoding` names gzip, and does not exclude it with `q=0`. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((part) => /^\s*gzip\s*(?:;\s*q=(?:1(?:\.0*)?|0?\.\d*[1-9]\d*)\s*)?$/i.test(part));
}

/** In characters. A smaller body fits into one or two packets. */
const GZIP_FROM = 32 * 1024;
/** The fastest level, because the connection is local. */
const GZIP_LEVEL = 1;
