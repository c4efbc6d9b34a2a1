import type { DecisionEvidence } from '../../api/run-views.ts';
import { renderCountOf } from '../../protocol/text/text-format.ts';
import { renderCost } from '../costs.ts';
import { paint } from '../status/paint.ts';
import { printable } from '../text.ts';
import { stageStrip } from '../view/stage-pieces.ts';

/** The evidence of a decision in lines. All text is from agents and people, and is cut so that a question fits on a screen or two. */
export function renderEvidence(
  { goal, stage, stages, items, output, diff, cost, commands }: DecisionEvidence,
  question: string,
): string[] {
  const said = items.flatMap(({ section, heading: title, title: what, author, entry, text }, i) => [
    ...(items[i - 1]?.section === section ? [] : [heading(title)]),
    `    ${printable(what)} (${printable(author)}, entry ${entry})`,
    ...(section === 'check' ? lastLines : cutLines)(text, `baton ledger show ${entry}`).map((line) => `      ${line}`),
  ]);
  const files = (diff?.files ?? []).slice(0, MOST_FILES);
  const rest = (diff?.total.files ?? 0) - files.length;
  return [
    ...(goal === null ? [] : [heading('Goal'), ...cutLines(goal, commands[0]).map((line) => `    ${line}`)]),
    ...(stage === null ? [] : [heading('Where it stands'), `    ${printable(stage)}`]),
    ...(stages.length === 0 ? [] : [paint([['    '], ...stageStrip(stages)], { columns: Infinity, colors: false })]),
    ...said,
    ...(output === null || question.includes(output.trim())
      ? []
      : [
          heading('Last output'),
          ...lastLines(
            output,
            commands.find((each) => each.includes(' logs ')),
          ).map((line) => `    ${line}`),
        ]),
    ...(diff === null || diff.total.files === 0
      ? []
      : [
          heading('Change'),
          ...files.map(
            ({ path, action, additions, deletions }) =>
              `    ${action.padEnd(8)} +${additions} -${deletions}  ${printable(path)}`,
          ),
          ...(rest > 0 ? [`    and ${renderCountOf(rest, 'more file')}`] : []),
          `    ${renderCountOf(diff.total.files, 'file')}, +${diff.total.additions} -${diff.total.deletions}`,
        ]),
    ...(cost === null || (cost.tokens === 0 && cost.work_ms === 0)
      ? []
      : [heading('Cost so far'), `    ${renderCost(cost)}`]),
    ...(commands.length === 0
      ? []
      : [heading('Look closer'), ...commands.map((command) => `    ${printable(command)}`)]),
    '\n  Options',
  ];
}

const MOST_LINES = 12;
const MOST_FILES = 20;
const LINE_CHARACTERS = 200;

function heading(title: string): string {
  return `\n  ${printable(title)}`;
}

function cutLines(text: string, where?: string): string[] {
  const lines = linesOf(text);
  if (lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES), describeRest(lines, 'more', where)];
}

/** Of a program's output the end counts. */
function lastLines(text: string, where?: string): string[] {
  const lines = linesOf(text.trimEnd());
  if (lines.length <= MOST_LINES) return lines;
  return [describeRest(lines, 'earlier', where), ...lines.slice(-MOST_LINES)];
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n').map((line) => printable(line).slice(0, LINE_CHARACTERS));
}

function describeRest({ length }: readonly string[], which: string, where?: string): string {
  return `… ${length - MOST_LINES} ${which} lines${where === undefined ? '' : `: ${where}`}`;
}
