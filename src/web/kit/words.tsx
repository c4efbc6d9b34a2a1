import { visible } from './visible.ts';

export { visible } from './visible.ts';

/**
 * Shows text of agents and people, which enters the page only here: isolated, so that it cannot reorder the text beside
 * it, and never as markup.
 */
export function Words({ text, most }: { readonly text: string | null | undefined; readonly most?: number }) {
  return <bdi>{visible(text ?? '', most)}</bdi>;
}
