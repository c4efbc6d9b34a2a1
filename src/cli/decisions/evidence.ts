import type { DecisionEvidence } from '../../api/decision-evidence.ts';
import { renderCountOf } from '../../protocol/text/text-format.ts';
import { renderBudget, renderCost } from '../costs.ts';
import { paint } from '../status/paint.ts';
import { printable } from '../text.ts';
import { stageStrip } from '../view/stage-pieces.ts';

/**
 * Renders the evidence of a decision. All text is from agents and people, and is shortened so that a question fits on
 * one or two screens.
 */
export function renderEvidence(evidence: DecisionEvidence, question: string): string[] {
  const { goal, stage, stages, items, output, diff, cost, commands } = evidence;
  const said = items.flatMap(({ section, heading: title, title: what, author, entry, text }, i) => [
    ...(items[i - 1]?.section === section ? [] : [heading(title)]),
    `    ${printable(what)} (${printable(author)}, entry ${entry})`,
    ...(section === 'check' ? lastLines : cutLines)(text, `baton ledger show ${entry}`).map((line) => `      ${line}`),
  ]);
  const files = (diff?.files ?? []).slice(0, MOST_FILES);
  const rest = (diff?.total.files ?? 0) - files.length;
  return [
    ...(goal === null ? [] : [heading('Goal'), ...cutLines(goal, commands[0]).map((line) => `    ${line}`)]),
    ...(stage === null ? [] : [heading('Current state'), `    ${printable(stage)}`]),
    ...(stages.length === 0 ? [] : [paint([['    '], ...stageStrip(stages)], { columns: Infinity, colors: false })]),
    ...renderBudgetOf(evidence),
    ...said,
    ...renderChecks(evidence),
    ...renderClaims(evidence),
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
    ...renderSincePassed(evidence),
    ...(cost === null || (cost.tokens === 0 && cost.work_ms === 0)
      ? []
      : [heading('Cost so far'), `    ${renderCost(cost)}`]),
    ...(commands.length === 0
      ? []
      : [heading('Look closer'), ...commands.map((command) => `    ${printable(command)}`)]),
    '\n  Options',
  ];
}

/** A person who is asked to raise a budget needs to know what it is used for. */
function renderBudgetOf({ budget, mission, commands }: DecisionEvidence): string[] {
  if (budget === null) return [];
  const { scope, used, limit } = budget;
  const percent = limit === 0 ? 100 : Math.floor((used / limit) * 100);
  return [
    heading('Budget'),
    `    ${printable(scope)}: ${renderBudget({ ...budget, percent })}`,
    ...(mission === null ? [] : [heading('Mission'), ...cutLines(mission, commands[0]).map((line) => `    ${line}`)]),
  ];
}

/** The output is among the items if it was reported about the task. */
function renderChecks({ checks, items }: DecisionEvidence): string[] {
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  if (failed.length === 0 || items.some(({ section }) => section === 'check')) return [];
  return [
    heading('Failed checks'),
    ...failed.flatMap(({ name, exit_code, output }) => [
      `    ${printable(name)}${exit_code === null ? '' : `, exit code ${exit_code}`}`,
      ...lastLines(output ?? '').map((line) => `      ${line}`),
    ]),
  ];
}

function renderClaims({ claims, claims_by }: DecisionEvidence): string[] {
  if (claims.length === 0) return [];
  return [
    heading('Reports compared with measurements'),
    ...(claims_by === null ? [] : [`    by ${printable(claims_by)}`]),
    ...claims.map(({ about, said, measured, differs }) => {
      const [one, other] = [said ?? 'nothing', measured ?? 'not measured'].map((text) => linesOf(text).join(' '));
      const both = said === measured ? `${one}, as measured` : `reported ${one}; measured: ${other}`;
      return `    ${differs ? '✗' : ' '} ${printable(about)}: ${both}`;
    }),
  ];
}

function renderSincePassed({ since_passed: change }: DecisionEvidence): string[] {
  if (change === null) return [];
  const { files, additions, deletions } = change.total;
  const what = `${renderCountOf(files, 'file')}, +${additions} -${deletions}, from ${change.base.slice(0, 12)}`;
  return [heading('Changed since all checks passed'), `    ${what}`];
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

/** Returns the end of a program's output, which matters most. */
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
