import { writeFileSync } from 'node:fs';

// Writes the Grafana dashboards next to this file. Run this file with `node deploy/grafana/generate.mjs`. A panel is a
// title, a unit, and one `[query, legend]` pair for each line. Panels are placed in rows of three.
const HTTP = 'causeway_http_request_duration_seconds';
const rate = (metric, by, selector = '') => `sum by (${by}) (rate(${metric}${selector}[5m]))`;
const p99 = (by, selector = '') =>
  `histogram_quantile(0.99, sum by (le${by === '' ? '' : `, ${by}`}) (rate(${HTTP}_bucket${selector}[5m])))`;
const SIGN_IN = '{route=~"/oauth/.*|/sign-in.*|/register|/confirm|/interaction/.*"}';

const DASHBOARDS = {
  overview: [
    ['Requests by status', 'reqps', [rate(`${HTTP}_count`, 'status'), '{{status}}']],
    ['Slowest 1% of requests', 's', [p99(''), 'p99']],
    [
      'Refused: overload and rate limits',
      'reqps',
      ['sum(rate(causeway_http_requests_shed_total[5m]))', 'overload'],
      [rate('causeway_rate_limited_total', 'limit'), '{{limit}}'],
    ],
    ['Nodes by version', 'short', ['count by (version) (causeway_build_info)', '{{version}}']],
    [
      'Participations waiting for settlement',
      'short',
      ['sum by (status) (max by (chain, status) (causeway_settlement_backlog))', '{{status}}'],
    ],
    [
      'Blocked settlement by reason',
      'short',
      ['max by (chain, reason) (causeway_settlement_waiting)', '{{chain}} {{reason}}'],
    ],
    ['Oldest entry in each queue', 's', ['max by (queue) (causeway_queue_oldest_seconds)', '{{queue}}']],
    [
      'Days until operator balances run out',
      'd',
      ['min by (chain, address) (causeway_operator_balance_days)', '{{chain}} {{address}}'],
    ],
    [
      'Sanctions: list entries and hits',
      'short',
      ['max(causeway_sanctions_list_entries)', 'entries'],
      ['max(causeway_sanctions_hits)', 'hits'],
      ['sum(causeway_sanctions_list_stale)', 'nodes with an outdated list'],
    ],
  ],
  'sign-in': [
    ['Requests by route', 'reqps', [rate(`${HTTP}_count`, 'route', SIGN_IN), '{{route}}']],
    [
      'Errors by route',
      'reqps',
      [
        rate(`${HTTP}_count`, 'route, status', SIGN_IN.replace('}', ',status=~"4xx|5xx"}')),
        '{{route}} {{status}}',
      ],
    ],
    ['Slowest 1% by route', 's', [p99('route', SIGN_IN), '{{route}}']],
    ['Password checks', 'ops', ['sum(rate(causeway_password_checks_total[5m]))', 'checks']],
    ['Refused by rate limits', 'reqps', [rate('causeway_rate_limited_total', 'limit'), '{{limit}}']],
    [
      'Token checks served from the cache',
      'percentunit',
      [
        'sum(rate(causeway_token_cache_requests_total{outcome="hit"}[5m])) / sum(rate(causeway_token_cache_requests_total[5m]))',
        'hits',
      ],
    ],
  ],
  settlement: [
    [
      'Participations to finish',
      'short',
      ['max by (status) (causeway_settlement_backlog{chain=~"$chain"})', '{{status}}'],
    ],
    [
      'Oldest participation by status',
      's',
      ['max by (status) (causeway_settlement_oldest_seconds{chain=~"$chain"})', '{{status}}'],
    ],
    [
      'Participations that reached a final status',
      'ops',
      [
        rate(
          'causeway_events_total',
          'type',
          '{type=~"participation.(completed|failed|remitted|remit_failed)"}',
        ),
        '{{type}}',
      ],
    ],
    [
      'Open transactions',
      'short',
      ['max by (chain) (causeway_settlement_open_transactions{chain=~"$chain"})', '{{chain}}'],
    ],
    [
      'Blocked, by reason',
      'short',
      ['max by (reason) (causeway_settlement_waiting{chain=~"$chain"})', '{{reason}}'],
    ],
    [
      'Paused chains and offers',
      'short',
      ['max by (subject, reason) (causeway_settlement_paused)', '{{subject}} {{reason}}'],
    ],
    [
      'Seconds since the last successful round',
      's',
      [
        'time() - max by (chain) (causeway_settlement_last_round_timestamp_seconds{chain=~"$chain"})',
        '{{chain}}',
      ],
    ],
    [
      'Lease holders',
      'short',
      [
        'max by (chain, address, node) (causeway_settlement_lease_holder{chain=~"$chain"})',
        '{{chain}} node {{node}}',
      ],
    ],
    [
      'Operator balance',
      'short',
      ['min by (chain, address) (causeway_operator_balance{chain=~"$chain"})', '{{chain}} {{address}}'],
    ],
    [
      'Fees in 24 hours and their limit',
      'short',
      ['max by (chain, address) (causeway_operator_gas_spent{chain=~"$chain"})', 'spent {{address}}'],
      ['max by (chain) (causeway_operator_gas_limit{chain=~"$chain"})', 'limit'],
    ],
    [
      'Value moved in 24 hours and its limit',
      'short',
      [
        'max by (role, token, address) (causeway_operator_value_spent{chain=~"$chain"})',
        'spent {{role}} {{token}}',
      ],
      ['max by (role, token) (causeway_operator_value_limit{chain=~"$chain"})', 'limit {{role}} {{token}}'],
    ],
    [
      'Nonce gap',
      'short',
      ['max by (chain, address) (causeway_operator_nonce_gap{chain=~"$chain"})', '{{chain}} {{address}}'],
    ],
    [
      'Differences between chain and database',
      'short',
      ['max by (offer) (causeway_reconcile_differences)', '{{offer}}'],
    ],
    [
      'Seconds since the last comparison',
      's',
      [
        'time() - max by (chain) (causeway_reconcile_last_pass_timestamp_seconds{chain=~"$chain"})',
        '{{chain}}',
      ],
    ],
    ['Refused signatures', 'ops', [rate('causeway_signer_refusals_total', 'reason'), '{{reason}}']],
    ['Revocations on allow-lists', 'short', ['max(causeway_allow_list_revocations)', 'waiting']],
  ],
  rpc: [
    [
      'Reads answered by caches',
      'percentunit',
      [
        'sum by (cache) (rate(causeway_read_cache_requests_total{outcome="hit"}[5m])) / sum by (cache) (rate(causeway_read_cache_requests_total[5m]))',
        '{{cache}}',
      ],
    ],
    [
      'Requests by provider',
      'reqps',
      [rate('causeway_rpc_requests_total', 'chain, provider'), '{{chain}} {{provider}}'],
    ],
    [
      'Requests without a valid response',
      'reqps',
      [
        rate('causeway_rpc_requests_total', 'chain, provider, outcome', '{outcome!="answered"}'),
        '{{chain}} {{provider}} {{outcome}}',
      ],
    ],
    [
      'Share of valid responses',
      'percentunit',
      [
        'sum by (chain, provider) (rate(causeway_rpc_requests_total{outcome="answered"}[5m])) / sum by (chain, provider) (rate(causeway_rpc_requests_total[5m]))',
        '{{chain}} {{provider}}',
      ],
    ],
    [
      'Age of the newest block',
      's',
      [
        'min by (chain, provider, endpoint) (causeway_rpc_head_age_seconds)',
        '{{chain}} {{provider}} {{endpoint}}',
      ],
    ],
    [
      'Unreadable contracts',
      'short',
      ['max by (offer, chain) (causeway_offer_contract_unreadable)', '{{offer}} {{chain}}'],
    ],
    [
      "Contracts whose fee is not the offer's",
      'short',
      ['max by (offer, chain) (causeway_offer_contract_fee_mismatch)', '{{offer}} {{chain}}'],
    ],
  ],
  'providers-and-webhooks': [
    [
      'Provider calls by outcome',
      'reqps',
      [rate('causeway_upstream_requests_total', 'upstream, outcome'), '{{upstream}} {{outcome}}'],
    ],
    [
      'Provider calls without a response',
      'reqps',
      [rate('causeway_upstream_requests_total', 'upstream', '{outcome!="answered"}'), '{{upstream}}'],
    ],
    [
      'Webhooks from providers',
      'reqps',
      [rate(`${HTTP}_count`, 'route, status', '{route=~"/webhooks/.*"}'), '{{route}} {{status}}'],
    ],
    [
      'Webhook attempts by outcome',
      'reqps',
      [rate('causeway_webhook_attempts_total', 'outcome'), '{{outcome}}'],
    ],
    ['Waiting webhooks', 'short', ['max(causeway_queue_length{queue="webhooks"})', 'waiting']],
    ['Oldest webhook', 's', ['max(causeway_queue_oldest_seconds{queue="webhooks"})', 'oldest']],
  ],
  queues: [
    ['Length', 'short', ['max by (queue) (causeway_queue_length)', '{{queue}}']],
    ['Oldest entry', 's', ['max by (queue) (causeway_queue_oldest_seconds)', '{{queue}}']],
    [
      'Housekeeping: seconds since each step ran',
      's',
      ['time() - max by (step) (causeway_housekeeping_last_run_timestamp_seconds)', '{{step}}'],
    ],
    ['Housekeeping failures', 'ops', [rate('causeway_housekeeping_failures_total', 'step'), '{{step}}']],
    [
      'Audit log: seconds since last sealed',
      's',
      ['time() - max(causeway_audit_sealing_last_run_timestamp_seconds)', 'sealed'],
    ],
    [
      'Audit log: failed sealing attempts',
      'ops',
      [rate('causeway_audit_sealing_failures_total', 'instance'), '{{instance}}'],
    ],
    ['Tokenized orders by restricted users', 'short', ['max(causeway_restricted_orders)', 'orders']],
  ],
  postgresql: [
    [
      'Database connections by state',
      'short',
      ['sum by (state) (causeway_database_connections{state!="max"})', '{{state}}'],
      ['sum(causeway_database_connections{state="max"})', 'max'],
    ],
    [
      'Statements waiting for a connection',
      'short',
      ['max by (instance) (causeway_database_waiting)', '{{instance}}'],
    ],
    ['Nodes that receive notifications', 'short', ['sum(causeway_database_listener_connected)', 'connected']],
    [
      'How far the clock is ahead of each node',
      's',
      ['max by (instance) (causeway_database_clock_offset_seconds)', '{{instance}}'],
    ],
    // These metrics come from `postgres_exporter`, which most PostgreSQL and Patroni installations run.
    [
      'Transactions',
      'ops',
      ['sum by (datname) (rate(pg_stat_database_xact_commit[5m]))', 'commits {{datname}}'],
      ['sum by (datname) (rate(pg_stat_database_xact_rollback[5m]))', 'rollbacks {{datname}}'],
    ],
    ['Backends', 'short', ['sum by (datname) (pg_stat_database_numbackends)', '{{datname}}']],
    ['Size', 'bytes', ['max by (datname) (pg_database_size_bytes)', '{{datname}}']],
    ['Replication lag', 's', ['max by (instance) (pg_replication_lag_seconds)', '{{instance}}']],
    [
      'Cache hit rate',
      'percentunit',
      [
        'sum(rate(pg_stat_database_blks_hit[5m])) / (sum(rate(pg_stat_database_blks_hit[5m])) + sum(rate(pg_stat_database_blks_read[5m])))',
        'hits',
      ],
    ],
    ['Deadlocks', 'ops', ['sum by (datname) (rate(pg_stat_database_deadlocks[5m]))', '{{datname}}']],
  ],
  nodes: [
    [
      'Version, Node.js version and secret of each node',
      'short',
      [
        'max by (instance, version, node_version, secret_fingerprint) (causeway_build_info)',
        '{{instance}} {{version}} {{node_version}} {{secret_fingerprint}}',
      ],
    ],
    ['Requests by node', 'reqps', [rate(`${HTTP}_count`, 'instance'), '{{instance}}']],
    ['Slowest 1% by node', 's', [p99('instance'), '{{instance}}']],
    ['CPU', 'percentunit', ['rate(causeway_process_cpu_seconds_total[5m])', '{{instance}}']],
    ['Memory', 'bytes', ['causeway_process_resident_memory_bytes', '{{instance}}']],
    ['Event loop delay, 99%', 's', ['causeway_nodejs_eventloop_lag_p99_seconds', '{{instance}}']],
    [
      'Refused because of overload',
      'reqps',
      ['sum by (instance) (rate(causeway_http_requests_shed_total[5m]))', '{{instance}}'],
    ],
    ['Open files', 'short', ['causeway_process_open_fds', '{{instance}}']],
    [
      'Garbage collection',
      's',
      ['sum by (instance) (rate(causeway_nodejs_gc_duration_seconds_sum[5m]))', '{{instance}}'],
    ],
  ],
};

const source = { type: 'prometheus', uid: '$source' };

function panelOf([title, unit, ...queries], index) {
  return {
    ...{ id: index + 1, title, type: 'timeseries', datasource: source },
    gridPos: { w: 8, h: 8, x: (index % 3) * 8, y: Math.floor(index / 3) * 8 },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(([expr, legendFormat], i) => ({
      ...{ refId: String.fromCharCode(65 + i), datasource: source, expr, legendFormat },
    })),
  };
}

function variablesOf(name) {
  const data = { name: 'source', label: 'Data source', type: 'datasource', query: 'prometheus' };
  const query = 'label_values(causeway_settlement_backlog, chain)';
  const chain = {
    name: 'chain',
    label: 'Chain',
    type: 'query',
    datasource: source,
    query,
    includeAll: true,
    multi: true,
    refresh: 2,
  };
  return name === 'settlement'
    ? [data, { ...chain, allValue: '.*', current: { text: 'All', value: '$__all' } }]
    : [data];
}

for (const [name, panels] of Object.entries(DASHBOARDS)) {
  const title = `Causeway: ${name.replaceAll('-', ' ').replace('rpc', 'RPC').replace('postgresql', 'PostgreSQL')}`;
  const dashboard = {
    ...{
      uid: `causeway-${name}`,
      title,
      tags: ['causeway'],
      schemaVersion: 39,
      editable: true,
      refresh: '30s',
    },
    ...{ time: { from: 'now-6h', to: 'now' }, timezone: 'utc', templating: { list: variablesOf(name) } },
    panels: panels.map(panelOf),
  };
  writeFileSync(new URL(`${name}.json`, import.meta.url), `${JSON.stringify(dashboard, null, 2)}\n`);
}
