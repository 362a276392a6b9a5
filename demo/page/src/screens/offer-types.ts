import type { Offer } from '@causeway/sdk';

type Labels = { singular: string; plural: string; about: string; action: string; title: string };

export const TYPE_LABELS: Record<Offer['type'], Labels> = {
  'platform::token_sale': {
    singular: 'Token sale',
    plural: 'Token sales',
    about:
      'Buy into a project while its sale is open. Your money stays in your wallet until the sale accepts it.',
    action: 'Invest',
    title: 'Invest in',
  },
  'fund::swap': {
    singular: 'Fund',
    plural: 'Funds',
    about: "Swap dollars for fund shares at today's price.",
    action: 'Swap',
    title: 'Swap into',
  },
  'tokenized::swap': {
    singular: 'Tokenized asset',
    plural: 'Tokenized assets',
    about: 'Tokens that track a share. Buy them at the market price while the market is open.',
    action: 'Trade',
    title: 'Trade',
  },
};

export const TYPES = Object.keys(TYPE_LABELS) as Offer['type'][];
