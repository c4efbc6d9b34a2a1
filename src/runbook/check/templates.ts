import { isBatonVariable } from '../../protocol/environment.ts';
import { didYouMean, quote } from '../../protocol/shape/problem.ts';
import { shellFaults, slotsOf } from '../../protocol/text/render-template.ts';
import { parseTemplate, type Slot } from '../../protocol/text/template.ts';
import { buildAgent } from '../build/build-agent.ts';
import { buildVariables } from '../build/build-pipeline.ts';
import { argumentNames, parseArgsDefinition } from '../command-args.ts';
import { type TemplateText, templateTextAt, templateTextsOf } from '../plan.ts';
import type { RunnableValue } from '../shape/runbook-shape.ts';
import { isWorkflowRun, runnablesOf } from './references.ts';
import { secretNamesOf } from './secrets.ts';
import type { Path, RunbookSubject } from './subject.ts';

type Source = 'var' | 'task' | 'step' | 'env';

/** The names that templates of a text may use. */
interface Scope {
  /** The places from which an agent is run; its texts must be valid in each. */
  readonly sites: readonly CallSite[];
  readonly sources: readonly Source[];
  readonly owner: string;
  /** Set if there may be further, unknown call sites. */
  readonly isOpen?: boolean;
}

const EVERYWHERE: readonly Source[] = ['var', 'task', 'step', 'env'];

export function checkTemplates(subject: RunbookSubject): void {
  checkAgentTexts(subject);
  checkPipelineTexts(subject);
  for (const [name, { run }] of Object.entries(subject.value.commands ?? {})) {
    const scope = { sites: [commandCallSite(name, subject)], owner: `command ${name}` };
    checkRunnable(run, ['commands', name, 'run'], { ...scope, sources: ['var', 'env'] }, subject);
  }
  for (const [name, { run }] of Object.entries(subject.value.workers ?? {})) {
    const scope = { sites: [siteOf('workers', name, subject)], owner: `worker ${name}` };
    if (run !== undefined && !isWorkflowRun(run))
      checkRunnable(run, ['workers', name, 'run'], { ...scope, sources: ['task', 'env'] }, subject);
  }
  for (const [index, { name, run }] of (subject.value.ci?.required ?? []).entries()) {
    const text = templateTextAt(run, ['ci', 'required', index, 'run'], { isShell: true });
    checkText(text, { sites: [], owner: `check ${name}`, sources: ['task', 'env'] }, subject);
  }
  const branch = templateTextAt(subject.value.workspace?.branch, ['workspace', 'branch'], { isRecorded: true });
  checkText(branch, { sites: [], owner: 'branch template', sources: ['task'] }, subject);
  const webhook = templateTextAt(subject.value.notify?.webhook, ['notify', 'webhook'], {});
  checkText(webhook, { sites: [], owner: 'webhook', sources: ['env'] }, subject);
}

function checkAgentTexts(subject: RunbookSubject): void {
  const sites = callSitesOfAgents(subject);
  for (const [name, value] of Object.entries(subject.value.agents ?? {})) {
    const scope = agentScope(name, sites, subject);
    // A single error handler has no `any` in its path.
    const isByKind = typeof value.on_error === 'object' && !('action' in value.on_error);
    for (const text of templateTextsOf(buildAgent(name, value))) {
      const path = isByKind
        ? text.path
        : text.path.filter((part, i) => !(part === 'any' && text.path[i - 1] === 'on_error'));
      checkText({ ...text, path: ['agents', name, ...path] }, scope, subject);
    }
  }
}

function agentScope(name: string, sites: ReadonlyMap<string, readonly CallSite[]>, subject: RunbookSubject): Scope {
  return { sites: sites.get(name) ?? [], owner: `agent ${name}`, sources: EVERYWHERE, isOpen: !subject.isWhole };
}

function checkPipelineTexts(subject: RunbookSubject): void {
  for (const [name, { steps, vars }] of Object.entries(subject.value.pipelines ?? {})) {
    checkDefaults(name, buildVariables(vars), subject);
    const scope: Scope = { sites: [pipelineCallSite(name, subject)], owner: `pipeline ${name}`, sources: EVERYWHERE };
    for (const [index, { run, workspace }] of steps.entries()) {
      const path = ['pipelines', name, 'steps', index] as const;
      checkRunnable(run, [...path, 'run'], scope, subject);
      for (const [field, text] of Object.entries(workspace ?? {})) {
        checkText(templateTextAt(text, [...path, 'workspace', field], { isRecorded: true }), scope, subject);
      }
    }
  }
}

/** Reports templates in a default: a default is not rendered, so the template would stay literal. */
function checkDefaults(pipeline: string, vars: Readonly<Record<string, string | null>>, subject: RunbookSubject): void {
  for (const [name, value] of Object.entries(vars)) {
    if (value === null || !value.includes('${')) continue;
    const path = ['pipelines', pipeline, 'vars', name] as const;
    const hint =
      'Use the template where the variable is used: `${var.NAME:-default}`, or give the value where the pipeline is run.';
    subject.report('invalid-template', path, `a default is not rendered as a template: ${quote(value)}`, hint);
  }
}

function checkRunnable(run: RunnableValue, path: Path, scope: Scope, subject: RunbookSubject): void {
  if (typeof run === 'string') checkText(templateTextAt(run, path, { isShell: true }), scope, subject);
  else if ('pipeline' in run) {
    for (const [name, text] of Object.entries(run.vars ?? {})) {
      checkText(templateTextAt(text, [...path, 'vars', name], { isRecorded: true }), scope, subject);
    }
  }
}

function checkText(text: TemplateText | undefined, scope: Scope, subject: RunbookSubject): void {
  if (text === undefined) return;
  for (const { code, source, message, hint } of faultsIn(text, scope, hiddenFrom(scope, subject))) {
    subject.report(code, text.path, message, hint, subject.placeInText(text.path, source));
  }
}

export function findPromptFaults(agent: string, text: string, subject: RunbookSubject): TemplateProblem[] {
  const scope = agentScope(agent, callSitesOfAgents(subject), subject);
  return faultsIn({ text, path: [], isShell: false, isRecorded: false }, scope, hiddenFrom(scope, subject));
}

/** The variables that a text must not use: the secrets, except in a webhook, which no agent sees. */
function hiddenFrom({ owner }: Scope, subject: RunbookSubject): readonly string[] {
  return owner === 'webhook' ? [] : secretNamesOf(subject);
}

export interface TemplateProblem extends Wrong {
  readonly source: string;
}

function faultsIn(text: TemplateText, scope: Scope, secrets: readonly string[]): TemplateProblem[] {
  if (!text.text.includes('${')) return [];
  const template = parseTemplate(text.text);
  const found = new Map<string, TemplateProblem>();
  const faults = text.isShell ? [...template.faults, ...shellFaults(template)] : template.faults;
  for (const { what, hint, source } of faults) {
    found.set(source, { code: 'invalid-template', source, message: `${what}: ${quote(source)}`, hint });
  }
  for (const slot of slotsOf(template)) {
    if (found.has(slot.source)) continue;
    const wrong = wrongSource(slot, text, scope) ?? givenAway(slot, secrets) ?? unknownName(slot, scope);
    if (wrong !== undefined) found.set(slot.source, { ...wrong, source: slot.source });
  }
  return [...found.values()];
}

interface Wrong {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

function wrongSource({ name, source }: Slot, { isRecorded }: TemplateText, scope: Scope): Wrong | undefined {
  const given: Source = name.of === 'output' || name.of === 'exit_code' ? 'step' : name.of;
  const code = 'runbook/unknown-name-in-template';
  if (given === 'env' && isRecorded) {
    const hint = 'It would be written into the ledger. Use it in a command, a prompt or `env`.';
    return { code, message: `the environment is not allowed here: ${source}`, hint };
  }
  if (name.of === 'env' && isBatonVariable(name.name)) {
    const message = `the daemon's own variables are not allowed in a template: ${quote(source)}`;
    const hint =
      'They are settings and secrets of the daemon. A command reads those of its session by itself: $BATON_PORT.';
    return { code, message, hint };
  }
  if (scope.sources.includes(given)) return undefined;
  const hint = `In a ${scope.owner.split(' ', 1)[0]} there are: ${scope.sources.join(', ')}.`;
  return { code, message: `${scope.owner} has no ${given}: ${quote(source)}`, hint };
}

function givenAway({ name, source }: Slot, secrets: readonly string[]): Wrong | undefined {
  if (name.of !== 'env' || !secrets.includes(name.name)) return undefined;
  const message = `${name.name} is an injected secret, and this would reveal it: ${quote(source)}`;
  return { code: 'runbook/secret-passed', message, hint: 'Remove it: the secret is injected.' };
}

/** Returns a variable or step that a call site lacks. */
function unknownName({ name, fallback, source }: Slot, scope: Scope): Wrong | undefined {
  if (name.of === 'task' || name.of === 'step' || name.of === 'env') return undefined;
  const [kind, given] = name.of === 'var' ? (['variable', name.name] as const) : (['step', name.step] as const);
  const namesOf = (site: CallSite): readonly string[] => (kind === 'variable' ? site.vars : site.steps);
  const lacking = lackingSite(scope, fallback, (site) => namesOf(site).includes(given));
  if (lacking === undefined) return undefined;
  const known = lacking === null ? [] : namesOf(lacking);
  const none = kind === 'variable' ? 'There are no variables: declare it.' : 'There are no steps.';
  const hint = didYouMean(given, known) ?? (known.length === 0 ? none : `There are: ${known.join(', ')}.`);
  const message = `unknown ${kind}: ${quote(source)}${whereOf(lacking, scope)}`;
  return { code: `runbook/unknown-${kind}`, message, hint };
}

/**
 * Returns the first call site that lacks the name; null if there is no call site, undefined if none lacks it. A default
 * covers call sites that lack the name, but not a name that no call site has.
 */
function lackingSite(
  { sites, isOpen = false }: Scope,
  fallback: string | null,
  has: (site: CallSite) => boolean,
): CallSite | null | undefined {
  if (sites.length === 0) return isOpen ? undefined : null;
  if (fallback !== null && (isOpen || sites.some(has))) return undefined;
  return sites.find((site) => !has(site));
}

function whereOf(lacking: CallSite | null, { owner }: Scope): string {
  if (lacking === null) return ` (no caller of ${owner} sets it)`;
  return lacking.noun === owner ? '' : ` (${lacking.noun} runs ${owner})`;
}

interface CallSite {
  /** The noun for messages, such as `pipeline build`. */
  readonly noun: string;
  readonly vars: readonly string[];
  readonly steps: readonly string[];
}

function pipelineCallSite(name: string, { value }: RunbookSubject): CallSite {
  const pipeline = value.pipelines?.[name];
  return {
    noun: `pipeline ${name}`,
    vars: Object.keys(buildVariables(pipeline?.vars)),
    steps: (pipeline?.steps ?? []).map((step) => step.name),
  };
}

function commandCallSite(name: string, { value }: RunbookSubject): CallSite {
  const args = parseArgsDefinition(value.commands?.[name]?.args ?? '');
  return { noun: `command ${name}`, vars: 'what' in args ? [] : argumentNames(args), steps: [] };
}

function callSitesOfAgents(subject: RunbookSubject): Map<string, CallSite[]> {
  const sites = new Map<string, CallSite[]>();
  const known = new Map<string, CallSite>();
  for (const { run, path } of runnablesOf(subject)) {
    if (typeof run === 'string' || !('agent' in run)) continue;
    const [section, name] = path.map(String);
    const key = `${section} ${name}`;
    const site = known.get(key) ?? siteOf(section ?? '', name ?? '', subject);
    known.set(key, site);
    const others = sites.get(run.agent) ?? [];
    if (!others.includes(site)) sites.set(run.agent, [...others, site]);
  }
  return sites;
}

function siteOf(section: string, name: string, subject: RunbookSubject): CallSite {
  if (section === 'pipelines') return pipelineCallSite(name, subject);
  return section === 'commands' ? commandCallSite(name, subject) : { noun: `worker ${name}`, vars: [], steps: [] };
}
