import { sql } from 'kysely';

/** SQL condition: the partner that the event `e` is for may read it. See the migration that defines `event_visible`. */
export const EVENT_VISIBLE = sql`event_visible(e.partner_id, e.user_id, e.type)`;
