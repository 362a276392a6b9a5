import { listNames } from './countries.ts';

/** The United States with its territories, as tax rules and Regulation S define it. */
export const UNITED_STATES: ReadonlySet<string> = new Set(['US', 'PR', 'GU', 'VI', 'AS', 'MP', 'UM']);

/** Common spellings of the above, in lower case. */
export const UNITED_STATES_NAMES: ReadonlySet<string> = new Set(
  [
    ...listNames(UNITED_STATES),
    'U.S.',
    'U.S.A.',
    'United States of America',
    'The United States',
    'The United States of America',
    'America',
    'Virgin Islands, U.S.',
    'US Virgin Islands',
  ].map((name) => name.toLowerCase()),
);
