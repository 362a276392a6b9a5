import { sql } from 'kysely';

/** Whether the partner of the event `e` may read it; see the migration that defines `event_visible`. */
export const EVENT_VISIBLE = sql`event_visible(e.partner_id, e.user_id, e.type)`;
