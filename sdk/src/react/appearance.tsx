import type { CSSProperties, ReactNode } from 'react';
import type { ClassNames } from './ui/class-names.ts';

/** The names of the CSS variables in `styles.css`, without the `--cw-` prefix. */
export type AppearanceVariable =
  | ('font' | 'surface' | 'surface-sunken' | 'text' | 'text-muted' | 'border' | 'border-strong')
  | ('accent' | 'accent-hover' | 'accent-soft' | 'on-accent' | 'focus')
  | ('skeleton' | 'shadow' | 'shadow-raised' | 'backdrop')
  | `${'good' | 'busy' | 'attention' | 'bad' | 'neutral'}${'' | '-soft'}`
  | ('radius' | 'radius-small' | 'space');

export type Appearance = {
  /** Default: follows the surrounding page, through its `color-scheme`, `data-theme` attribute or `dark` class. */
  theme?: 'light' | 'dark' | undefined;
  /** CSS values, for example `{ accent: 'light-dark(#0a6a3c, #6fdba1)', radius: '4px' }`. */
  variables?: Readonly<Partial<Record<AppearanceVariable, string>>> | undefined;
  /**
   * Classes for the parts of all components, such as `{ button: 'btn' }`. Define the object outside your components.
   */
  classNames?: ClassNames | undefined;
};

/**
 * Applies an appearance to its children through an element with `display: contents`, which does not affect the layout.
 */
export function AppearanceScope({ appearance, children }: { appearance: Appearance; children: ReactNode }) {
  const style = { display: 'contents', ...Object.fromEntries(propertiesOf(appearance)) } as CSSProperties;
  return (
    <div data-theme={appearance.theme} style={style}>
      {children}
    </div>
  );
}

/** Applies an appearance to an element that is not inside an `AppearanceScope`. */
export function applyAppearance(element: HTMLElement, appearance: Appearance = {}): void {
  if (appearance.theme !== undefined) element.dataset.theme = appearance.theme;
  for (const [name, value] of propertiesOf(appearance)) element.style.setProperty(name, value);
}

function propertiesOf({ variables = {} }: Appearance): [name: string, value: string][] {
  return Object.entries(variables).map(([name, value]) => [`--cw-${name}`, value]);
}
