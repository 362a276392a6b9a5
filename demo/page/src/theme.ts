import { createStore, useStore } from './store.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const root = document.documentElement;
const store = createStore<Theme>(THEMES.find((theme) => theme === root.dataset.theme) ?? 'system');

export function useTheme(): Theme {
  return useStore(store);
}

/** Stores the theme in a cookie, so that the server can render the page in the right colors. */
export function setTheme(theme: Theme): void {
  const isSystem = theme === 'system';
  if (isSystem) delete root.dataset.theme;
  else root.dataset.theme = theme;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet
  document.cookie = `theme=${theme}; Path=/; SameSite=Lax; Max-Age=${isSystem ? 0 : 31_536_000}`;
  store.set(theme);
}
