/** The tables with the computed states that were last reported to partners; see `tables.ts`. */
export interface ReportedTables {
  reported_statuses: ReportedStatuses;
  status_checks: StatusChecks;
  reported_offers: ReportedOffers;
}

export interface ReportedStatuses {
  user_id: string;
  partner_id: string;
  requirement_id: string;
  status: string;
  action: string | null;
}

export interface StatusChecks {
  user_id: string;
  /**
   * When the next check is due. Set to `-infinity` when a fact about the user changes, so that the check is due
   * immediately.
   */
  due_at: string;
}

export interface ReportedOffers {
  offer_id: string;
  partner_id: string;
  state: 'published' | 'started' | 'ended';
}
