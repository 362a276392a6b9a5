import { wordsFor } from './countries.ts';

/** What the tax rules and Regulation S mean by the United States: with its territories. */
export const UNITED_STATES: ReadonlySet<string> = new Set(['US', 'PR', 'GU', 'VI', 'AS', 'MP', 'UM']);

/** How people write it, in lower case. */
export const UNITED_STATES_WORDS: ReadonlySet<string> = new Set(
  [
    ...wordsFor(UNITED_STATES),
    'U.S.',
    'U.S.A.',
    'United States of America',
    'The United States',
    'The United States of America',
    'America',
    'Virgin Islands, U.S.',
    'US Virgin Islands',
  ].map((word) => word.toLowerCase()),
);
