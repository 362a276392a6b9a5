import type { CSSProperties, ReactNode } from 'react';

/** The colours and sizes of `styles.css`, named as their variables without `--cw-`. */
export type AppearanceVariable =
  | ('font' | 'surface' | 'surface-sunken' | 'text' | 'text-muted' | 'border' | 'border-strong')
  | ('accent' | 'accent-hover' | 'on-accent' | 'focus' | 'skeleton' | 'shadow' | 'shadow-raised' | 'backdrop')
  | `${'good' | 'busy' | 'attention' | 'bad' | 'neutral'}${'' | '-soft'}`
  | ('radius' | 'radius-small' | 'space');

export type Appearance = {
  /** Default: the `color-scheme`, `data-theme` or class `dark` of the page around the components. */
  theme?: 'light' | 'dark' | undefined;
  /** CSS values, for example `{ accent: 'light-dark(#0a6a3c, #6fdba1)', radius: '4px' }`. */
  variables?: Readonly<Partial<Record<AppearanceVariable, string>>> | undefined;
};

/** Applies an appearance to its children with an element that has no box of its own. */
export function AppearanceScope({ appearance, children }: { appearance: Appearance; children: ReactNode }) {
  const { theme, variables = {} } = appearance;
  const named = Object.entries(variables).map(([name, value]) => [`--cw-${name}`, value]);
  const style = { display: 'contents', ...Object.fromEntries(named) } as CSSProperties;
  return (
    <div data-theme={theme} style={style}>
      {children}
    </div>
  );
}
