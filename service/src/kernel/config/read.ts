import { hasPlaceholder, PLACEHOLDER } from './placeholder.ts';
import { SETTINGS, type Setting, type SettingName, type SettingValue } from './settings.ts';

export type Environment = Record<string, string | undefined>;

/** Reads one setting. Problems are collected, so that all of them are reported at once. */
export type Read = <N extends SettingName>(name: N) => SettingValue<N>;

export type Source = {
  read: Read;
  problems: string[];
  isProduction: boolean;
  /**
   * The kind of process that reads the settings. In production, a missing required setting is a problem for a node, but
   * not for a command.
   */
  reader: 'node' | 'command';
};

/**
 * Returns a source that reads settings from `env` and collects problems. A problem mentions the variable's name and
 * expected form, but never its value, which may be a secret.
 */
export function openSource(env: Environment, isProduction: boolean, reader: Source['reader']): Source {
  // Searches all settings for placeholders now, because some settings are read only if another setting is set.
  const problems = Object.keys(SETTINGS)
    .filter((name) => hasPlaceholder(env[name] ?? ''))
    .map((name) => `${name}: still contains ${PLACEHOLDER}; set your own value`);
  const read: Read = (name) => {
    const setting: Setting = SETTINGS[name];
    const given = env[name] === '' ? undefined : env[name];
    const text = given ?? (isProduction ? setting.production : setting.sandbox);
    if (text === undefined) {
      if (reader === 'node' && isProduction && setting.required === true)
        problems.push(`${name}: is required in production and must be ${expected(setting, isProduction)}`);
      return null as never;
    }
    if (hasPlaceholder(text)) return null as never;
    const value = setting.parse(text, isProduction);
    if (value === undefined) problems.push(`${name}: must be ${expected(setting, isProduction)}`);
    return (value ?? null) as never;
  };
  return { read, problems, isProduction, reader };
}

function expected({ expects }: Setting, isProduction: boolean): string {
  return typeof expects === 'string' ? expects : expects(isProduction);
}
