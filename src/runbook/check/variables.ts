import { quote } from '../../protocol/shape/quote.ts';
import { buildVariables } from '../build/build-pipeline.ts';
import { argumentNames, parseArgsDefinition } from '../command-args.ts';
import type { Path, RunbookSubject } from './subject.ts';
import { runnablesOf } from './references.ts';

/** Whoever runs a pipeline gives it what it needs, and nothing that it does not have. */
export function checkVariables(subject: RunbookSubject): void {
  for (const { run, path } of runnablesOf(subject)) {
    if (typeof run === 'string' || !('pipeline' in run)) continue;
    const pipelines = subject.value.pipelines ?? {};
    const pipeline = Object.hasOwn(pipelines, run.pipeline) ? pipelines[run.pipeline] : undefined;
    if (pipeline === undefined) continue;
    const declared = buildVariables(pipeline.vars);
    const known = Object.keys(declared);
    const given = Object.keys(run.vars ?? {});
    for (const name of given.filter((each) => !known.includes(each))) {
      const message = `pipeline ${run.pipeline} has no variable ${quote(name)}`;
      subject.reportUnknown('runbook/unknown-variable', [...path, 'vars', name], message, name, known);
    }
    const passed = new Set([...given, ...argumentsOf(path, subject)]);
    for (const name of known.filter((each) => declared[each] === null && !passed.has(each))) {
      const message = `pipeline ${run.pipeline} needs the variable ${name}`;
      const hint = `Give it: { pipeline = "${run.pipeline}", vars = { ${name} = "…" } }.`;
      subject.report('runbook/missing-variable', [...path, 'pipeline'], message, hint);
    }
  }
}

/** A command passes arguments on to variables of the same name. */
function argumentsOf([section, name]: Path, { value }: RunbookSubject): string[] {
  if (section !== 'commands') return [];
  const args = parseArgsDefinition(value.commands?.[String(name)]?.args ?? '');
  return 'what' in args ? [] : argumentNames(args);
}
