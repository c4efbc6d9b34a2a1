import type { StreamFormat } from '../protocol/run-plan.ts';
import { acpStream } from './acp.ts';
import { claudeStream } from './claude.ts';
import type { ClientStream } from './client-stream.ts';
import { codexStream } from './codex.ts';
import { geminiStream } from './gemini.ts';

/** The stream by the `output` of a launch. */
export const STREAMS: Readonly<Record<StreamFormat, ClientStream>> = {
  'stream-json': claudeStream,
  codex: codexStream,
  gemini: geminiStream,
  acp: acpStream,
};
