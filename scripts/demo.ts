import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { main } from '../src/cli/main.ts';
import { processIo } from '../src/cli/process-io.ts';
import { createSignalFinder } from '../src/protocol/find-signals.ts';

/** `npm start`: the dialects at work on the sample messages, through the same command that `npx baton` runs. */
const SAMPLES = [
  ['exit', 'exit-signal.json'],
  ['exit', 'exit-signal.broken.json'],
  ['mission', 'mission.yaml'],
  ['mission', 'mission.broken.yaml'],
  ['result', 'result.yaml'],
  ['result', 'result.broken.yaml'],
  ['handoff', 'handoff.xml'],
  ['handoff', 'handoff.broken.xml'],
  ['thought', 'thought-record.json'],
  ['evidence', 'evidence.yaml'],
] as const;

process.chdir(join(import.meta.dirname, '..'));
const io = processIo();
const both = { ...io, err: (text: string) => io.out(text) };

for (const [kind, name] of SAMPLES) {
  const file = `examples/messages/${name}`;
  io.out(`\n$ npx baton validate ${kind} ${file}\n`);
  const code = await main(['validate', kind, file], both);
  const expected = name.includes('.broken.') ? 1 : 0;
  if (code !== expected) throw new Error(`${file} gave exit code ${code}, expected ${expected}`);
}

io.out('\nAn exit signal in the middle of what an agent says, arriving in pieces of seven bytes:\n');
const bytes = readFileSync('examples/messages/agent-output.txt');
const finder = createSignalFinder();
for (let at = 0; at < bytes.length; at += 7) finder.push(bytes.subarray(at, at + 7));
const found = finder.end();
if (found.kind !== 'signal') throw new Error('the sample output holds a signal that was not found');
io.out(`${JSON.stringify(found.signal, null, 2)}\n`);

io.out('\nTry it yourself: npx baton validate --help\n');
