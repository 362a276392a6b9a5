import type { Parser } from './parsers.ts';

/**
 * The definition of one environment variable. The service parses the variable with this definition, and
 * `docs/configuration.md` is generated from all definitions.
 */
export type Setting<T = unknown> = Parser<T> & {
  /** What the setting does, in one or two sentences of Markdown. */
  description: string;
  /** The default per profile, as text, used if the variable is unset or empty. */
  sandbox?: string;
  production?: string;
  /** Shown in the documentation in place of a default that is not a fixed value. */
  defaultNote?: string;
  /**
   * `true` if production does not start without the setting. A string states the condition under which the setting is
   * required.
   */
  required?: true | string;
};

type Options = Omit<Setting, 'expects' | 'parse' | 'description'> & { default?: string };

/** Defines a setting. `default` sets the default for both profiles. */
export function setting<T, const O extends Options>(parser: Parser<T>, description: string, options: O) {
  const { default: both, ...rest } = options;
  const defaults = both === undefined ? {} : { sandbox: both, production: both };
  const hasDefault = both !== undefined || rest.sandbox !== undefined;
  return { ...parser, description, ...defaults, ...rest, hasDefault } as unknown as Setting<T> & {
    hasDefault: O extends { default: string } | { sandbox: string } ? true : false;
  };
}
