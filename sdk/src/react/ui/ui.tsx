import { createContext, type ReactNode, useContext } from 'react';
import type { Check } from '../../wire.ts';
import { type ClassNames, joinClasses } from './class-names.ts';
import { DEFAULT_LOCALE, type Formats, formatsOf } from './format.ts';
import type { Message, Messages } from './messages.ts';

/** Returns the host's translation of a message. Each placeholder, such as `{name}`, is replaced with its value. */
export type Translate = (message: Message, values?: Readonly<Record<string, string | number>>) => string;

/** The messages, formats and classes that the components use, as customized by the host. */
export type Ui = {
  locale: string;
  t: Translate;
  /** Like `t`, but the values are React elements. */
  rich(message: Message, values: Readonly<Record<string, ReactNode>>): ReactNode;
  /** Returns the host's text for a failed check, or the service's text if the host has none. */
  check(code: Check['code'], text: string): string;
  format: Formats;
  /** Joins class names: the SDK's classes in `own`, the host's classes for the same parts, and `added`. */
  cx(own: string, added?: string | undefined): string;
};

type UiSettings = {
  locale?: string | undefined;
  messages?: Messages | undefined;
  classNames?: ClassNames | undefined;
};

const PLACEHOLDER = /\{(\w+)\}/;

export function createUi({ locale = DEFAULT_LOCALE, messages = {}, classNames = {} }: UiSettings = {}): Ui {
  const translate = (message: Message): string => messages[message] ?? message;
  return {
    locale,
    t: (message, values = {}) =>
      translate(message).replaceAll(new RegExp(PLACEHOLDER, 'g'), (whole, name: string) =>
        String(values[name] ?? whole),
      ),
    rich: (message, values) =>
      translate(message)
        .split(PLACEHOLDER)
        // `split` also returns the captured names, so every second part is the name of a value.
        .map((part, index) => (index % 2 === 0 ? part : <Slot key={part}>{values[part]}</Slot>)),
    check: (code, text) => messages[`check:${code}`] ?? text,
    format: formatsOf(locale),
    cx: (own, added) => joinClasses(own, classNames, added),
  };
}

function Slot({ children }: { children: ReactNode }): ReactNode {
  return children;
}

/** Components outside a provider use this default, which is in English. */
export const UiContext = createContext<Ui>(createUi());

export const useUi = (): Ui => useContext(UiContext);
