import { signal } from '@preact/signals';

/** At most one overlay is open. */
export const overlay = signal<'palette' | 'help' | undefined>(undefined);

export function openPalette(): void {
  overlay.value = 'palette';
}

export function openHelp(): void {
  overlay.value = 'help';
}

export function closeOverlay(): void {
  overlay.value = undefined;
}
