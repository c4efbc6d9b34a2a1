import { createObserver, withClient } from '../ask.ts';
import { EXIT, type CliCommand } from '../command.ts';
import { COMMON_OPTIONS, numberOption, reportError } from '../operation-command.ts';
import { readHeadSeq } from '../run/follow-entries.ts';
import { untilInterrupted } from '../run/interrupt.ts';
import { fieldsIn } from '../run/read-fields.ts';
import { parseAgent } from '../run/views.ts';
import { followLog, readLog } from './follow-log.ts';
import { agentArgument } from './agents.ts';

export const agentLogsCommand: CliCommand = {
  name: 'agent logs',
  summary: 'Show the output of an agent',
  examples: ['baton agent logs 5d0e7b41', 'baton agent logs 5d0e7b41 -f -n 20'],
  args: [agentArgument],
  options: [
    { name: 'follow', short: 'f', about: 'Go on with what it prints from now on, until it has gone' },
    { name: 'lines', short: 'n', value: 'N', about: 'Only the last N lines of what is there' },
    ...COMMON_OPTIONS.map((option) =>
      option.name === 'json' ? { ...option, about: 'Print each line as JSON' } : option,
    ),
  ],
  exitCodes: { 0: 'shown, to the end', 1: 'there is no such agent', 130: 'you left with Ctrl-C' },
  async run(given, io) {
    const lines = numberOption(given, 'lines');
    if ('usage' in lines || (lines.value !== undefined && (lines.value < 0 || !Number.isInteger(lines.value)))) {
      io.err('Error: --lines must be a number from 0\nTry: baton agent logs --help\n');
      return EXIT.usage;
    }
    const { answer, after } = await withClient(given, io, async (client) => {
      const head = await readHeadSeq(client);
      return { answer: await client.call('agent_show', { id: given.args[0] }), after: head };
    });
    if (!answer.ok) return reportError(answer.error, given, io);
    const agent = parseAgent(fieldsIn(answer.result));
    const asJson = given.options.has('json');
    const onLine = (line: string): void => io.out(asJson ? `${JSON.stringify({ line })}\n` : `${line}\n`);
    if (!given.options.has('follow')) {
      await readLog(agent.log ?? '', lines.value, onLine);
      return EXIT.ok;
    }
    using interrupt = untilInterrupted();
    const client = createObserver(given, io);
    try {
      await followLog(agent, client, { after, signal: interrupt.signal, lines: lines.value, onLine });
      return interrupt.signal.aborted ? EXIT.interrupted : EXIT.ok;
    } finally {
      client.close();
    }
  },
};
