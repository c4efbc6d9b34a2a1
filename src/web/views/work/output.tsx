import { useLayoutEffect, useRef } from 'preact/hooks';
import { stripTerminalCodes } from '../../../protocol/text/terminal-codes.ts';
import { useApi } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import { StateMark } from '../../kit/state-mark.tsx';
import { visible } from '../../kit/visible.ts';
import { Words } from '../../kit/words.tsx';
import type { TimelineRow } from '../../model/run/timeline-row.ts';

const LINES = 1000;
const EVERY_MS = 2000;

/** The output of a check, a step or a merge: its log if this host has it, else the recorded end. */
export function Output({ row }: { readonly row: TimelineRow }) {
  const { label, outcome, output = '', seq, commandId, to } = row;
  const log = useApi(
    'agent_log',
    commandId === undefined ? undefined : { command_id: commandId, to_lines: LINES },
    to === null ? { everyMs: EVERY_MS } : {},
  );
  const text = log.value === undefined || log.value.size === 0 ? output : stripTerminalCodes(log.value.text);
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), []);
  return (
    <section class="card output" aria-label={`Output of ${visible(label, 120)}`} ref={box}>
      <p class="bar">
        <strong>
          <Words text={label} most={120} />
        </strong>
        {outcome === null ? null : <StateMark state={outcome} />}
        {seq === undefined ? null : <a href={hrefTo({ view: 'ledger', id: String(seq) })}>entry #{seq}</a>}
        {log.value !== undefined && log.value.from > 0 ? <span class="dim">the last {LINES} lines</span> : null}
      </p>
      {text === '' ? (
        <p class="dim">{to === null ? 'There is no output yet.' : 'It printed nothing.'}</p>
      ) : (
        <pre tabIndex={0} aria-label="Output">
          <Words text={text} most={200_000} />
        </pre>
      )}
    </section>
  );
}
