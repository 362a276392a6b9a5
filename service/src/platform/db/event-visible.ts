import { sql } from 'kysely';

/**
 * An SQL condition: whether the event `e` may be read by the partner that it is for. See the migration that defines
 * `event_visible`.
 */
export const EVENT_VISIBLE = sql`event_visible(e.partner_id, e.user_id, e.type)`;
