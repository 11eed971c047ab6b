// Light, dark, or as the system says; remembered in this browser.
import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'holdfast.theme';
const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };

export const theme = signal<Theme>(remembered());
show(theme.value);

export function nextTheme(): void {
  theme.value = NEXT[theme.value];
  show(theme.value);
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // A browser that keeps nothing: the choice holds until the page is closed.
  }
}

function show(chosen: Theme): void {
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
}

function remembered(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}
