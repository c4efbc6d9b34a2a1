import { quote } from '../../protocol/shape/quote.ts';
import { parseTemplate } from '../../protocol/text/template.ts';
import type { RunbookSubject } from './subject.ts';

const WEBHOOK_PATH = ['notify', 'webhook'] as const;

/**
 * A variable in the webhook is the beginning of the address, so that its value goes only to the host that the value itself names. The
 * working file counts for notifications and an agent can edit it: `http://HOST/${env.KEY}` would send the daemon's secrets to that host.
 */
export function checkWebhook(subject: RunbookSubject): void {
  const text = subject.value.notify?.webhook;
  if (text === undefined) return;
  const { parts, faults } = parseTemplate(text);
  const slots = parts.flatMap((part) => (part.kind === 'slot' ? part : []));
  // Templates that cannot be read, or have no value here, are reported with all other templates.
  if (faults.length > 0 || slots.some(({ name }) => name.of !== 'env')) return;
  for (const { source } of slots.filter(({ at }) => at !== 0)) {
    const message = `a webhook does not send a variable to another host: ${quote(source)}`;
    subject.report(
      'invalid-template',
      WEBHOOK_PATH,
      message,
      WHOLE_VARIABLE,
      subject.placeInText(WEBHOOK_PATH, source),
    );
  }
  const [first, second] = parts;
  if (first?.kind === 'slot' && second?.kind === 'text' && !/^[/?#]/.test(second.text))
    subject.report(
      'invalid-template',
      WEBHOOK_PATH,
      `text after a variable changes the host: ${quote(text)}`,
      WHOLE_VARIABLE,
    );
}

const WHOLE_VARIABLE =
  'Put the whole address into one variable: `${env.NAME}`. A path may follow it: `${env.NAME}/slack`.';
