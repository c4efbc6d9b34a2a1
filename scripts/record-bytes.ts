import { parseArgs } from 'node:util';
import { packPlace } from '../test/recorded/real-ledger.ts';
import { takePlace } from '../test/recorded/place.ts';
import { recordLedger } from '../test/recorded/record-ledger.ts';
import { differences, makeRecording, PARTS, readPart, writePart, type Part } from '../test/recorded/recording.ts';

/**
 * `node scripts/record-bytes.ts --check` compares ledgers, exports and transcripts with those under
 * `test/fixtures/recorded`. `--update-words` rewrites the text for people, `--update-states` the folded states, and
 * neither if anything else differs. `--record` rewrites everything for the recorded ledger, `--record-ledger` for the
 * ledger of a new workflow; both are only for a new base.
 */
const { values: options } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    'record-ledger': { type: 'boolean', default: false },
    'update-words': { type: 'boolean', default: false },
    'update-states': { type: 'boolean', default: false },
  },
});
if (!Object.values(options).includes(true)) {
  console.error(
    'Usage: node scripts/record-bytes.ts --check | --update-words | --update-states | --record | --record-ledger',
  );
  process.exit(2);
}

if (options['record-ledger']) {
  using _place = await takePlace();
  await recordLedger();
  packPlace();
}
const updated = new Set<Part>([
  ...(options.record || options['record-ledger'] ? PARTS : []),
  ...(options['update-words'] ? (['words'] as const) : []),
  ...(options['update-states'] ? (['states'] as const) : []),
]);
const now = await makeRecording();
const found = PARTS.filter((part) => !updated.has(part)).flatMap((part) =>
  differences(readPart(part), now[part]).map((difference) => `${part}: ${difference}`),
);
for (const each of found) console.log(each);
if (found.length > 0) {
  console.log(`${found.length} differ`);
  process.exitCode = 1;
} else {
  for (const part of updated) writePart(part, now[part]);
  const counts = PARTS.map((part) => `${part} ${now[part].size}`).join(', ');
  console.log(`${updated.size === 0 ? 'the same' : `written: ${[...updated].join(', ')}`} (${counts})`);
}
