import { visible } from './visible.ts';

export { visible } from './visible.ts';

/** All foreign text enters the page here: isolated, so that it cannot reorder the text beside it, and never as markup. */
export function Words({ text, most }: { readonly text: string | null | undefined; readonly most?: number }) {
  return <bdi>{visible(text ?? '', most)}</bdi>;
}
