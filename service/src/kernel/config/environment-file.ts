import { PLACEHOLDER } from './placeholder.ts';
import { SETTING_GROUPS, type Setting, type SettingName } from './settings.ts';

/**
 * The settings that the environment file sets. The file lists all other settings as comments. `PLACEHOLDER` stands for
 * a value that only the operator knows.
 */
const VALUES: Partial<Record<SettingName, string>> = {
  CAUSEWAY_PROFILE: 'production',
  PUBLIC_URL: `https://${PLACEHOLDER}`,
  CAUSEWAY_SECRET: PLACEHOLDER,
  DATABASE_URL: `postgres://causeway:${PLACEHOLDER}@${PLACEHOLDER}:5432/causeway`,
  SMTP_URL: `smtps://${PLACEHOLDER}:${PLACEHOLDER}@${PLACEHOLDER}`,
  MAIL_FROM: `no-reply@${PLACEHOLDER}`,
  RPC_URL_ETHEREUM_MAINNET: `https://${PLACEHOLDER},https://${PLACEHOLDER}`,
  OPERATOR_KEY: PLACEHOLDER,
  SANCTIONS_FILE: PLACEHOLDER,
  SUMSUB_APP_TOKEN: `prd:${PLACEHOLDER}`,
  SUMSUB_SECRET: PLACEHOLDER,
  SUMSUB_WEBHOOK_SECRET: PLACEHOLDER,
  DOCUSEAL_URL: `https://${PLACEHOLDER}/api`,
  DOCUSEAL_API_KEY: PLACEHOLDER,
  DOCUSEAL_TEMPLATE_W8_BEN: PLACEHOLDER,
  DOCUSEAL_TEMPLATE_W8_BEN_E: PLACEHOLDER,
  DOCUSEAL_WEBHOOK_SECRET: PLACEHOLDER,
};

const INTRODUCTION = [
  'Settings for a Causeway node in production. "causeway init" writes this file with generated secrets.',
  `Replace every ${PLACEHOLDER} with your own value: no process starts until all are replaced. Then run "causeway doctor".`,
  'Commented-out settings are optional and show their defaults. The file holds secrets: let only the service read it,',
  'and keep it out of version control.',
  'Write NAME=value without quotes or spaces, so that systemd, containers and shells all read the same value.',
];

const WIDTH = 118;

/** Returns an environment file with every production setting. The values in `generated` replace those in `VALUES`. */
export function environmentFile(generated: Partial<Record<SettingName, string>> = {}): string {
  const values: Partial<Record<string, string>> = { ...VALUES, ...generated };
  const { Sandbox: _, ...groups } = SETTING_GROUPS;
  const sections = Object.entries<Record<string, Setting>>(groups).map(([title, settings]) => {
    const entries = Object.entries(settings).map(([name, setting]) => {
      const value = values[name];
      const line = value === undefined ? `#${name}=${setting.production ?? ''}` : `${name}=${value}`;
      return `${comment(describe(setting))}\n${line}\n`;
    });
    return `## ${title}\n\n${entries.join('\n')}`;
  });
  return [`${INTRODUCTION.map((line) => `# ${line}`).join('\n')}\n`, ...sections].join('\n');
}

function describe({ description, required }: Setting): string {
  const condition = required === true ? ' Required.' : ` Required if ${required}.`;
  return `${description}${required === undefined ? '' : condition}`;
}

function comment(text: string): string {
  const lines = text.match(new RegExp(`\\S.{0,${WIDTH}}(?=\\s|$)`, 'g')) ?? [];
  return lines.map((line) => `# ${line.trim()}`).join('\n');
}
