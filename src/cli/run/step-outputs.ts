import { existsSync } from 'node:fs';
import { commandFiles } from '../../supervisor/contract.ts';
import { readLog } from '../agents/follow-log.ts';
import { fieldsIn, listIn, textIn, type Fields } from './read-fields.ts';
import { logsOf, renderOutput } from './show-output.ts';

/**
 * What the steps of a run printed, for whoever looks on. A step that failed shows the end of it, and where the rest is. A run that is
 * nothing but one command shows all of it: that is what it was typed for.
 */
export class StepOutputs {
  readonly #root: string;
  readonly #stateDir: string;
  #isPlain = false;
  /** What runs each step that is under way. */
  readonly #runners = new Map<string, { readonly agentId: string } | { readonly log: string }>();

  constructor(root: string, stateDir: string) {
    this.#root = root;
    this.#stateDir = stateDir;
  }

  /** Every entry comes by here: who runs a step is said in entries that tell people nothing. */
  note(type: string, data: Fields): void {
    if (type === 'PipelineStarted' && data['pipeline_id'] === this.#root)
      this.#isPlain = isPlain(fieldsIn(data['plan']));
    else if (type === 'CommandRequested') {
      const { log } = commandFiles(this.#stateDir, textIn(data['command_id']));
      this.#runners.set(placeOf(fieldsIn(data['subject'])), { log });
    } else if (type === 'AgentRequested')
      this.#runners.set(placeOf(fieldsIn(data['owner'])), { agentId: textIn(data['agent_id']) });
  }

  /** The lines below the one that tells of the end of a step. */
  async print(type: string, data: Fields, line: string, onLine: (line: string) => void): Promise<void> {
    if (type !== 'StepFinished') return;
    const place = placeOf(data);
    const runner = this.#runners.get(place);
    this.#runners.delete(place);
    const log = runner !== undefined && 'log' in runner && existsSync(runner.log) ? runner.log : null;
    const indent = `${/^ */.exec(line)?.[0] ?? ''}  `;
    if (data['outcome'] === 'failed') {
      const where = runner !== undefined && 'agentId' in runner ? logsOf(runner.agentId) : log;
      for (const below of renderOutput(textIn(data['output']), indent, where)) onLine(below);
    } else if (this.#isPlain && log !== null) {
      await readLog(log, undefined, (below) => onLine(`${indent}${below}`.trimEnd()));
    }
  }
}

/** One step, and that a shell command. */
function isPlain({ pipeline, pipelines }: Fields): boolean {
  const [first, second] = listIn(fieldsIn(fieldsIn(pipelines)[textIn(pipeline)])['steps']);
  return second === undefined && fieldsIn(first?.['run'])['kind'] === 'shell';
}

function placeOf({ pipeline_id, step }: Fields): string {
  return `${textIn(pipeline_id)}/${textIn(step)}`;
}
