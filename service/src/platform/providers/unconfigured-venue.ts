import { notConfigured } from '../outbound/failure.ts';
import type { Venue } from './venue.ts';

/** Returns a venue that refuses every call, for installations without tokenized swaps. */
export function unconfiguredVenue(): Venue {
  const refuse = async (): Promise<never> => {
    throw notConfigured('venue', 'ONDO_API_KEY');
  };
  return {
    quote: refuse,
    attest: refuse,
    tradingLimits: refuse,
    sessionLimits: refuse,
    marketState: refuse,
    assetPauses: refuse,
    decimals: refuse,
    close: async () => {},
  };
}
