import type { TokenizedSwapMarket } from '@causeway/sdk';

const TIME = { hour: '2-digit', minute: '2-digit' } as const;
const DAY_MS = 86_400_000;
/** The start and the end of the regular session, as times of day in New York. */
const OPENS_MS = 9.5 * 3_600_000;
const CLOSES_MS = 16 * 3_600_000;

type Zone = string | undefined;

/** Returns the regular trading hours of US shares in the user's time zone, such as `15:30–22:00`. */
export function regularHours(now: Date, timeZone?: Zone): string {
  const wall = (zone: string) => Date.parse(now.toLocaleString('en-US', { timeZone: zone }));
  const offset = wall('UTC') - wall('America/New_York');
  const midnight = Math.floor((now.getTime() - offset) / DAY_MS) * DAY_MS + offset;
  const show = (ms: number) => new Date(midnight + ms).toLocaleTimeString('en-GB', { ...TIME, timeZone });
  return `${show(OPENS_MS)}–${show(CLOSES_MS)}`;
}

type Hours = Pick<TokenizedSwapMarket, 'is_open' | 'session' | 'opens_at' | 'closes_at'>;

const SESSIONS: Record<NonNullable<Hours['session']>, string> = {
  premarket: 'Pre-market',
  regular: 'Open',
  postmarket: 'After hours',
  overnight: 'Overnight',
  offhours: 'Weekend trading',
  paused: 'Paused',
  closed: 'Closed',
};

/** Describes whether the market is open, and until when, in the user's time zone, such as `Open until 22:00`. */
export function describeHours({ is_open, session, opens_at, closes_at }: Hours, now: Date, timeZone?: Zone) {
  if (is_open === null || session === null) return 'Unknown';
  const time = (iso: string) => {
    const at = new Date(iso);
    const isSoon = at.getTime() - now.getTime() < DAY_MS / 2;
    return at.toLocaleString('en-GB', { ...TIME, timeZone, ...(isSoon ? {} : { weekday: 'short' }) });
  };
  if (is_open) return `${SESSIONS[session]}${closes_at === null ? '' : ` until ${time(closes_at)}`}`;
  const state = session === 'paused' ? 'Paused' : 'Closed';
  return opens_at === null ? state : `${state}, opens ${time(opens_at)}`;
}
