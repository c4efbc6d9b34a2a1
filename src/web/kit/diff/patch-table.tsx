import { useRef, useState } from 'preact/hooks';
import { isPatchLine, type PatchLine, type PatchRow, segmentsOf } from '../../model/patch.ts';
import type { CommentTargets } from '../../model/sessions.ts';
import { visible } from '../visible.ts';
import { Words } from '../words.tsx';
import { CommentField, nameLine, SentComments, sentOn } from './line-comment.tsx';
import type { PatchPlace } from './use-patch.ts';

interface PatchTableProps {
  readonly rows: readonly PatchRow[];
  readonly place: PatchPlace;
  readonly targets: CommentTargets;
}

/**
 * The rows of a patch. A line number is a button that opens a comment field; only one of them is a tab stop, and the
 * arrow keys move between them, so that a long patch does not have a thousand tab stops.
 */
export function PatchTable({ rows, place, targets }: PatchTableProps) {
  const [stop, setStop] = useState(() => rows.findIndex(isPatchLine));
  const [commented, setCommented] = useState<number | undefined>(undefined);
  const table = useRef<HTMLTableElement>(null);
  const focusOn = (index: number): void => {
    const button = table.current?.querySelector(`[data-line="${index}"]`);
    if (button instanceof HTMLElement) button.focus();
  };
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const from = event.target instanceof HTMLElement ? event.target.dataset['line'] : undefined;
    if (step === undefined || from === undefined) return;
    event.preventDefault();
    let next = Number(from) + step;
    while (next >= 0 && next < rows.length && !isPatchLineAt(rows, next)) next += step;
    focusOn(next);
  };
  const close = (index: number): void => {
    setCommented(undefined);
    focusOn(index);
  };
  return (
    <table class="patch" ref={table} onKeyDown={move} aria-label={`Patch of ${visible(place.path, 200)}`}>
      <colgroup>
        <col class="at" />
        <col class="at" />
        <col class="sign" />
        <col />
      </colgroup>
      <tbody>
        {rows.map((row, index) =>
          isPatchLine(row) ? (
            <Line
              key={index}
              row={row}
              index={index}
              place={place}
              isStop={index === stop}
              reach={() => setStop(index)}
              open={() => setCommented(index === commented ? undefined : index)}
            >
              {index === commented ? (
                <CommentField line={row} place={place} targets={targets} close={() => close(index)} />
              ) : null}
            </Line>
          ) : (
            <Heading key={index} row={row} />
          ),
        )}
      </tbody>
    </table>
  );
}

function isPatchLineAt(rows: readonly PatchRow[], index: number): boolean {
  const row = rows[index];
  return row !== undefined && isPatchLine(row);
}

function Heading({ row }: { readonly row: Exclude<PatchRow, PatchLine> }) {
  return (
    <tr class="hunk">
      <td colSpan={4}>
        {row.kind === 'about' ? (
          <Words text={row.text} most={400} />
        ) : (
          <>
            {row.range} <Words text={row.heading} most={400} />
          </>
        )}
      </td>
    </tr>
  );
}

interface LineProps {
  readonly row: PatchLine;
  readonly index: number;
  readonly place: PatchPlace;
  readonly isStop: boolean;
  readonly reach: () => void;
  readonly open: () => void;
  readonly children: preact.ComponentChildren;
}

const SIGNS = { added: '+', removed: '−', context: '' } as const;

function Line({ row, index, place, isStop, reach, open, children }: LineProps) {
  const sent = sentOn(place, row);
  const number = (shown: number | null, isOwn: boolean) =>
    isOwn ? (
      <button
        type="button"
        data-line={index}
        tabIndex={isStop ? 0 : -1}
        aria-label={`Comment on ${nameLine(row)}`}
        onFocus={reach}
        onClick={open}
      >
        {shown}
      </button>
    ) : (
      shown
    );
  return (
    <>
      <tr class={row.kind}>
        <td class="at">{number(row.old, row.kind === 'removed')}</td>
        <td class="at">{number(row.new, row.kind !== 'removed')}</td>
        <td class="sign">
          {SIGNS[row.kind]}
          <span class="sr">{row.kind === 'context' ? '' : row.kind}</span>
        </td>
        <td class="code">
          <Code row={row} />
        </td>
      </tr>
      {children === null && sent.length === 0 ? null : (
        <tr class="said-here">
          <td colSpan={4}>
            <SentComments sent={sent} />
            {children}
          </td>
        </tr>
      )}
    </>
  );
}

/** A line of a minified file may be a megabyte. */
const MOST_CHARS = 4000;

function Code({ row }: { readonly row: PatchLine }) {
  return (
    <bdi>
      {segmentsOf(row).map(({ text, differs, isTrailing }, i) =>
        isTrailing ? (
          <span key={i} class="trailing" title="White space at the end of the line">
            {text.replaceAll('\r', '␍')}
          </span>
        ) : differs ? (
          <mark key={i}>{visible(text, MOST_CHARS)}</mark>
        ) : (
          visible(text, MOST_CHARS)
        ),
      )}
      {row.isUnended === true ? <span class="dim"> (no line break at the end of the file)</span> : null}
    </bdi>
  );
}
