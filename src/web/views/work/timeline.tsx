import { hrefTo, type Route } from '../../app/router.ts';
import { Empty } from '../../kit/loading.tsx';
import { shownNow } from '../../kit/shown-now.ts';
import { StateMark, toneOf } from '../../kit/state-mark.tsx';
import { TimesLegend } from '../../kit/stages.tsx';
import { renderSpan, renderTime } from '../../kit/time.tsx';
import { visible } from '../../kit/visible.ts';
import { Words } from '../../kit/words.tsx';
import { ACTIVITY_WORDS } from '../../model/strip.ts';
import { axisOf, placeOn, ticksOf, type TimeAxis } from '../../model/run/time-axis.ts';
import type { TimelineRow } from '../../model/run/timeline-row.ts';
import { Output } from './output.tsx';

interface TimelineProps {
  readonly rows: readonly TimelineRow[];
  readonly route: Route;
}

/** Sessions, checks and waits on one time axis. It is a table, so that a screen reader reads what the bars show. */
export function Timeline({ rows, route }: TimelineProps) {
  if (rows.length === 0) return <Empty>Nothing has happened yet.</Empty>;
  const chosen = rows.find(({ key }) => key === route.query['check']);
  return (
    <>
      <div class="scroll" role="region" aria-label="Timeline" tabIndex={0}>
        <table class="timeline">
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col" class="bars">
                <Axis rows={rows} />
              </th>
              <th scope="col">Took</th>
              <th scope="col">Outcome</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <Line key={row.key} row={row} rows={rows} route={route} isFirst={rows[i - 1]?.group !== row.group} />
            ))}
          </tbody>
        </table>
      </div>
      <TimesLegend />
      <Patterns />
      {chosen === undefined ? null : <Output key={chosen.key} row={chosen} />}
    </>
  );
}

/** The hatching of checks, which the style sheet uses. */
function Patterns() {
  return (
    <svg class="patterns" width="0" height="0" aria-hidden="true">
      <pattern id="hatched" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="hatch-ground" width="4" height="4" />
        <rect class="hatch-line" width="2" height="4" />
      </pattern>
    </svg>
  );
}

function nowFor(rows: readonly TimelineRow[]): number {
  return rows.some(({ to }) => to === null) ? shownNow.value : 0;
}

function Axis({ rows }: { readonly rows: readonly TimelineRow[] }) {
  const axis = axisOf(rows, nowFor(rows));
  const all = axis.toMs - axis.fromMs;
  return (
    <svg
      class="axis"
      height="20"
      aria-label={`Time since ${renderTime(axis.fromMs)}, ${renderSpan(all)} in all`}
      role="img"
    >
      {ticksOf(axis).map((ms) => {
        const at = ms / all;
        return (
          <g key={ms}>
            <line x1={`${at * 100}%`} x2={`${at * 100}%`} y1="14" y2="20" />
            {at > 0 && at < FIRST_LABEL ? null : (
              <text x={`${at * 100}%`} y="12" text-anchor={ms === 0 ? 'start' : at > 0.9 ? 'end' : 'middle'}>
                {ms === 0 ? renderTime(axis.fromMs) : `+${renderTick(ms)}`}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** The share of the axis that the label of its start covers. */
const FIRST_LABEL = 0.3;

/** Renders `30 s`, `5 min`, `2 h` or `3 d`: marks are at round times. */
function renderTick(ms: number): string {
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
  ] as const;
  const [size, unit] = units.find(([each]) => ms >= each && ms % each === 0) ?? [1000, 's'];
  return `${ms / size} ${unit}`;
}

interface LineProps extends TimelineProps {
  readonly row: TimelineRow;
  readonly isFirst: boolean;
}

function Line({ row, rows, route, isFirst }: LineProps) {
  const href = hrefOf(row, route);
  const isChosen = row.key === route.query['check'];
  const label = (
    <>
      <Words text={row.label} most={120} />
      {row.round > 1 ? <span class="visits"> round {row.round}</span> : null}
    </>
  );
  return (
    <tr class={`${isFirst ? 'first' : ''} ${isChosen ? 'chosen' : ''}`} data-kind={row.kind}>
      <th scope="row" class="one-line" title={visible(row.label, 300)}>
        {row.kind === 'wait' ? (
          <span class="state wait" aria-hidden="true">
            ◆&nbsp;
          </span>
        ) : null}
        {href === undefined ? (
          label
        ) : (
          <a href={href} aria-current={isChosen ? 'true' : undefined}>
            {label}
          </a>
        )}
      </th>
      <td class="bars">
        <Bars row={row} rows={rows} {...(href === undefined ? {} : { href })} />
      </td>
      <td class="number">
        <Took row={row} />
      </td>
      <td class="one-line">
        <Outcome row={row} />
      </td>
    </tr>
  );
}

/**
 * The link of a row: sessions open their log, waits their question, nested pipelines their run; checks and commands
 * show their output below.
 */
function hrefOf(row: TimelineRow, route: Route): string | undefined {
  const session = row.agentId ?? row.claim;
  if (session !== undefined) return hrefTo({ view: 'session', id: session });
  if (row.decisionId !== undefined) return hrefTo({ view: 'inbox', id: row.decisionId });
  if (row.pipelineId !== undefined) return hrefTo({ view: 'work', id: `pipeline:${row.pipelineId}` });
  if (row.output === undefined && row.commandId === undefined) return undefined;
  return hrefTo({ ...route, part: 'timeline', query: { ...route.query, check: row.key } });
}

/** The bars, which screen readers skip, because the table has the text and the link. */
function Bars({
  row,
  rows,
  href,
}: {
  readonly row: TimelineRow;
  readonly rows: readonly TimelineRow[];
  readonly href?: string;
}) {
  const nowMs = nowFor(rows);
  const axis = axisOf(rows, nowMs);
  const picture = (
    <>
      {row.segments.map((segment) => {
        const { x, width } = placeOn(axis, segment, nowMs);
        const isThin = segment.activity === 'queued' || segment.activity === 'pending';
        return (
          <rect
            key={segment.from + segment.activity}
            class={`span ${segment.activity} ${row.outcome !== null && toneOf(row.outcome) === 'bad' ? 'bad' : ''}`}
            x={`${Math.min(x, 99.5)}%`}
            width={`${Math.max(width, 0.5)}%`}
            y={isThin ? 9 : 4}
            height={isThin ? 2 : 12}
            rx={isThin ? 0 : 2}
          >
            <title>{`${ACTIVITY_WORDS[segment.activity]} from ${renderTime(segment.from)}${
              segment.to === null ? '' : ` to ${renderTime(segment.to)}`
            }`}</title>
          </rect>
        );
      })}
    </>
  );
  return (
    <svg height="20" aria-hidden="true">
      <Grid axis={axis} />
      {href === undefined ? (
        picture
      ) : (
        <a href={href} tabindex={-1}>
          {picture}
        </a>
      )}
    </svg>
  );
}

function Grid({ axis }: { readonly axis: TimeAxis }) {
  const all = axis.toMs - axis.fromMs;
  return (
    <g class="grid">
      {ticksOf(axis).map((ms) => (
        <line key={ms} x1={`${(ms / all) * 100}%`} x2={`${(ms / all) * 100}%`} y1="0" y2="20" />
      ))}
    </g>
  );
}

function Took({ row: { from, to } }: { readonly row: TimelineRow }) {
  const end = to === null ? shownNow.value : Date.parse(to);
  return (
    <time dateTime={from} title={`From ${renderTime(from)}${to === null ? '' : ` to ${renderTime(to)}`}`}>
      {renderSpan(end - Date.parse(from))}
    </time>
  );
}

function Outcome({ row: { outcome, to, segments } }: { readonly row: TimelineRow }) {
  if (outcome !== null) return <StateMark state={outcome} {...(isPlainGood(outcome) ? { tone: 'good' } : {})} />;
  const now = segments.at(-1);
  if (to === null && now !== undefined) return <StateMark state={now.activity} word={ACTIVITY_WORDS[now.activity]} />;
  return <span class="dim">–</span>;
}

/** Reports whether the outcome is a success of a claim, check or answer. */
function isPlainGood(outcome: string): boolean {
  return ['approve', 'exit code 0', 'resume', 'nudge'].includes(outcome);
}
