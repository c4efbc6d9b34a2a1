/** Templates belong to the words of runs: the engine fills them in too, and it knows no runbook. Here they are under the room's name. */
export { renderTemplate, type RenderOptions, type TemplateContext } from '../protocol/text/render-template.ts';
