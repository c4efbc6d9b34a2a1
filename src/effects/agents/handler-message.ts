import { renderTemplate, type TemplateContext } from '../../protocol/text/render-template.ts';
import type { AgentPlan, HandlerPlan } from '../../protocol/run-plan.ts';

/**
 * What an agent, or a person, is told: a message of the runbook with its templates filled in; anything else, which a person or an agent
 * has said, as it stands.
 */
export function fillMessage(plan: AgentPlan, text: string, context: TemplateContext): string {
  if (!messagesOf(plan).includes(text)) return text;
  const rendered = renderTemplate(text, context, { quote: 'none' });
  return rendered.ok ? rendered.value : text;
}

function messagesOf({ on_stop, on_idle, on_dead, on_error = {}, on_prompt }: AgentPlan): string[] {
  const handlers: (HandlerPlan | undefined)[] = [on_stop, on_idle, on_dead, on_prompt, ...Object.values(on_error)];
  return handlers.flatMap((handler) => handler?.message ?? []);
}
