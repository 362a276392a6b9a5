/** The audit log is not what this installation has signed. The message names the first difference. */
export class AuditProblem extends Error {}
