import { buildVariables } from '../build-pipeline.ts';
import { namesOf, readCommandArgs } from '../command-args.ts';
import type { Subject } from '../subject.ts';
import { runnablesOf } from './references.ts';

/** A place from which something is run, and the names that are known there. */
export interface Site {
  /** As people call it: `pipeline build`. */
  readonly noun: string;
  readonly vars: readonly string[];
  readonly steps: readonly string[];
}

/** The names that are known inside a pipeline. */
export function pipelineSite(name: string, { value }: Subject): Site {
  const pipeline = value.pipelines?.[name];
  return {
    noun: `pipeline ${name}`,
    vars: Object.keys(buildVariables(pipeline?.vars)),
    steps: (pipeline?.steps ?? []).map((step) => step.name),
  };
}

export function commandSite(name: string, { value }: Subject): Site {
  const args = readCommandArgs(value.commands?.[name]?.args ?? '');
  return { noun: `command ${name}`, vars: 'what' in args ? [] : namesOf(args), steps: [] };
}

export function workerSite(name: string): Site {
  return { noun: `worker ${name}`, vars: [], steps: [] };
}

/** From where each agent is run. */
export function sitesOfAgents(subject: Subject): Map<string, Site[]> {
  const sites = new Map<string, Site[]>();
  const known = new Map<string, Site>();
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

function siteOf(section: string, name: string, subject: Subject): Site {
  if (section === 'pipelines') return pipelineSite(name, subject);
  return section === 'commands' ? commandSite(name, subject) : workerSite(name);
}
