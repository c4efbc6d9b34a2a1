export function boundTokens(text: string): number {
  return new TextEncoder().encode(text).length / 2;
}
export function cutToTokens(text: string, most: number): string {
  return text.slice(0, Math.max(0, Math.floor(most)));
}
