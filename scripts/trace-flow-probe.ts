import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

/**
 * `trace-flow.ts` loads this into the daemon's process before its program (`--import`). Counts the calls of every
 * function, and for each message writes the counts since the previous message to the file that the message names.
 */
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('message', (file: string) => void writeCounts(file));
// The probe must not keep a stopping daemon alive.
process.channel?.unref();

async function writeCounts(file: string): Promise<void> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  writeFileSync(file, JSON.stringify(result));
}
