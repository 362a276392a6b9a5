import { parseArgs } from 'node:util';
import { SETTING_GROUPS, type Setting } from '../../kernel/config/settings.ts';
import type { CommandHelp } from './command.ts';
import { writeOutput } from './write-output.ts';

export const SETTINGS_HELP: CommandHelp = {
  usage: ['settings [--write FILE]'],
  description: 'Prints a reference of all settings as Markdown. docs/configuration.md contains this output.',
  options: { '--write FILE': 'Write to FILE instead of standard output.' },
  examples: { 'settings --write docs/configuration.md': 'Regenerate the configuration reference' },
};

const INTRODUCTION = `# Configuration

Generated from \`service/src/kernel/config/settings.ts\` by \`npm run generate\`.

All settings are environment variables; an empty value counts as unset. The service checks them at startup and refuses
to start if any is invalid, naming every variable that needs attention. Without any settings it runs as a sandbox on this
machine. \`CAUSEWAY_PROFILE=production\` requires the settings marked below and rejects every part of the sandbox.
`;

export async function runSettings(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { write: { type: 'string' } } });
  await writeOutput(values.write, settingsDocument());
}

export function settingsDocument(): string {
  const sections = Object.entries(SETTING_GROUPS).map(([title, settings]) => {
    const rows = Object.entries<Setting>(settings).map(
      ([name, setting]) =>
        `| \`${name}\` | ${describeDefault(setting)} | ${describeRequirement(setting)} | ${setting.description} |`,
    );
    return `## ${title}\n\n| Setting | Default | Required in production | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return [INTRODUCTION, ...sections].join('\n');
}

function describeDefault({ sandbox, production, defaultNote }: Setting): string {
  if (defaultNote !== undefined) return defaultNote;
  if (sandbox === undefined) return '';
  if (sandbox === production) return `\`${sandbox}\``;
  return production === undefined
    ? `\`${sandbox}\` in the sandbox`
    : `\`${sandbox}\` in the sandbox, \`${production}\` in production`;
}

function describeRequirement({ required }: Setting): string {
  if (required === undefined) return 'no';
  return required === true ? '**yes**' : `if ${required}`;
}
