import type { Offer } from '@causeway/sdk';

type Names = { one: string; many: string; about: string; action: string; verb: string };

export const TYPE_NAMES: Record<Offer['type'], Names> = {
  'platform::token_sale': {
    one: 'Token sale',
    many: 'Token sales',
    about: 'Buy into a project while its sale is open. Your money stays in a contract until it is taken up.',
    action: 'Invest',
    verb: 'Invest in',
  },
  'fund::swap': {
    one: 'Fund',
    many: 'Funds',
    about: 'Swap dollars for shares of a fund at the price of the day.',
    action: 'Swap',
    verb: 'Swap into',
  },
  'tokenized::swap': {
    one: 'Tokenized asset',
    many: 'Tokenized assets',
    about: 'Tokens that follow a share, bought at the price of its market while that is open.',
    action: 'Trade',
    verb: 'Trade',
  },
};

export const TYPES = Object.keys(TYPE_NAMES) as Offer['type'][];
