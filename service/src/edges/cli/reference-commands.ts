import { parseArgs } from 'node:util';
import { SETTING_GROUPS, type Setting } from '../../kernel/config/settings.ts';
import { ERRORS } from '../../kernel/errors.ts';
import { type Command, type CommandHelp, writeOutput } from './command.ts';

// The commands with which `npm run generate` writes the references.

export const errors = printer(
  {
    usage: ['errors [--write FILE]'],
    description: 'Prints the catalogue of API errors as Markdown. docs/errors.md contains this output.',
    examples: { 'errors --write docs/errors.md': 'Regenerate the error catalogue' },
  },
  errorsDocument,
);

export const settings = printer(
  {
    usage: ['settings [--write FILE]'],
    description:
      'Prints a reference of all settings as Markdown. docs/configuration.md contains this output.',
    examples: { 'settings --write docs/configuration.md': 'Regenerate the configuration reference' },
  },
  settingsDocument,
);

/** Returns a command that prints `compose()`, or writes it to a file. */
function printer(help: Omit<CommandHelp, 'options'>, compose: () => string): Command {
  return {
    help: { ...help, options: { '--write FILE': 'Write to FILE instead of standard output.' } },
    run: async (args) => {
      const { values } = parseArgs({ args, options: { write: { type: 'string' } } });
      await writeOutput(values.write, compose());
    },
  };
}

const ERRORS_INTRODUCTION = `# Errors

Generated from \`service/src/kernel/errors.ts\` by \`npm run generate\`. Every failed request returns one JSON object: \`message\` for
people, \`type\` = \`api_error\`, \`code\` for programs, \`errors\` with details (a list of messages per field), and \`event_id\`,
which identifies the request in the logs.

| HTTP | code | message |
|---|---|---|
`;

function errorsDocument(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, [status, message]]) => `| ${status} | \`${code}\` | ${message} |`,
  );
  return `${ERRORS_INTRODUCTION}${rows.join('\n')}\n`;
}

const SETTINGS_INTRODUCTION = `# Configuration

Generated from \`service/src/kernel/config/settings.ts\` by \`npm run generate\`.

All settings are environment variables; an empty value counts as unset. The service checks them at startup and refuses
to start if any is invalid, naming every variable that needs attention. Without any settings it runs as a sandbox on this
machine. \`CAUSEWAY_PROFILE=production\` requires the settings marked below and rejects every part of the sandbox.
`;

function settingsDocument(): string {
  const sections = Object.entries(SETTING_GROUPS).map(([title, settings]) => {
    const rows = Object.entries<Setting>(settings).map(
      ([name, setting]) =>
        `| \`${name}\` | ${describeDefault(setting)} | ${describeRequirement(setting)} | ${setting.description} |`,
    );
    return `## ${title}\n\n| Setting | Default | Required in production | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return [SETTINGS_INTRODUCTION, ...sections].join('\n');
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
