/** The tables that hold the computed states last reported to partners; see `tables.ts`. */
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
  /** `-infinity` after a fact has changed, so that the check is due immediately. */
  due_at: string;
}

export interface ReportedOffers {
  offer_id: string;
  partner_id: string;
  state: 'published' | 'started' | 'ended';
}
