import { buildVariables } from '../build/build-pipeline.ts';
import { argumentNames, parseArgsDefinition } from '../command-args.ts';
import type { RunbookSubject } from './subject.ts';
import { runnablesOf } from './references.ts';

/** A place from which something is run, and the names that are known there. */
export interface CallSite {
  /** As people call it: `pipeline build`. */
  readonly noun: string;
  readonly vars: readonly string[];
  readonly steps: readonly string[];
}

/** The names that are known inside a pipeline. */
export function pipelineCallSite(name: string, { value }: RunbookSubject): CallSite {
  const pipeline = value.pipelines?.[name];
  return {
    noun: `pipeline ${name}`,
    vars: Object.keys(buildVariables(pipeline?.vars)),
    steps: (pipeline?.steps ?? []).map((step) => step.name),
  };
}

export function commandCallSite(name: string, { value }: RunbookSubject): CallSite {
  const args = parseArgsDefinition(value.commands?.[name]?.args ?? '');
  return { noun: `command ${name}`, vars: 'what' in args ? [] : argumentNames(args), steps: [] };
}

export function workerCallSite(name: string): CallSite {
  return { noun: `worker ${name}`, vars: [], steps: [] };
}

/** From where each agent is run. */
export function callSitesOfAgents(subject: RunbookSubject): Map<string, CallSite[]> {
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
  return section === 'commands' ? commandCallSite(name, subject) : workerCallSite(name);
}
