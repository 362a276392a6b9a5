/** What partners were last told of computed states; see `tables.ts`. */
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
  /** `-infinity` after a change of a fact. */
  due_at: string;
}

export interface ReportedOffers {
  offer_id: string;
  partner_id: string;
  state: 'published' | 'started' | 'ended';
}
