// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Sale fund
/// @notice Holds what users commit to the options of one token sale. A user's only act is the ERC-20 approval of
/// this contract; an operator pulls the approved amount (`commit`) and may give it back (`remit`).
/// @dev An option is named by the keccak-256 of its id's text.
interface ISaleFund {
    /// @notice What was pulled from, and given back to, one user for one option, or everyone for one token.
    struct Totals {
        uint256 commitCount;
        uint256 commitSum;
        uint256 remitCount;
        uint256 remitSum;
    }

    /// @notice `amount` of `token` was pulled from `user` for `option`.
    event Committed(address indexed user, bytes32 indexed option, address indexed token, uint256 amount);

    /// @notice `amount` of `token` was given back to `user` for `option`.
    event Remitted(address indexed user, bytes32 indexed option, address indexed token, uint256 amount);

    /// @notice One row of a batch changed nothing. `kind` 0 is a commit.
    event BatchFail(
        uint256 kind, address indexed user, bytes32 indexed option, address indexed token, uint256 amount
    );

    /// @notice A batch ended. `kind` 0 is a commit, 1 a remit.
    event Batched(uint256 kind, uint256 succeeded, uint256 failed);

    /// @notice The stop mask is now `level`.
    event Stopped(uint256 level);

    /// @notice The owner took `amount` of `token` out to `to`.
    event Withdrawn(address indexed token, address indexed to, uint256 amount);

    /// @notice The token refused the transfer, or another amount than the one asked arrived.
    error CommitFailed(address user, bytes32 option, address token);

    /// @notice The token refused to give the money back.
    error RemitFailed(address user, bytes32 option, address token);

    /// @notice Nobody commits for the zero address or for the fund itself.
    error InvalidUser();

    /// @notice `amount` is below the smallest commitment, `minimum`.
    error InsufficientAmount(uint256 amount, uint256 minimum);

    /// @notice More is asked back than is still committed.
    error InsufficientCommitment(address user, bytes32 option, address token);

    /// @notice The columns of a batch differ in length.
    error NonEquivalentListLength();

    /// @notice Too little gas is left to give the next row its full share, so the whole batch is undone.
    error InsufficientGas();

    /// @notice This act is stopped.
    error IsStopped();

    /// @notice Pulls `amount` of `token` from `user`. Role 2.
    function commit(address user, bytes32 option, address token, uint256 amount) external;

    /// @notice Pulls row by row. A row that fails changes nothing and emits `BatchFail`; the others stand. Role 2.
    function commit(
        address[] calldata users,
        bytes32[] calldata options,
        address[] calldata tokens,
        uint256[] calldata amounts
    ) external;

    /// @notice Gives `amount` of `token` back to `user`, at most what is still committed. Role 4.
    function remit(address user, bytes32 option, address token, uint256 amount) external;

    /// @notice Gives back to many at once, all or nothing. Role 4.
    function remit(address[] calldata users, bytes32 option, address token, uint256[] calldata amounts) external;

    /// @notice Overwrites the stop mask: 2 stops commits, 4 stops remits, 0 resumes. Owner.
    function stop(uint256 level) external;

    /// @notice Takes proceeds out. What was taken can no longer be remitted. Owner.
    function withdraw(address token, address to, uint256 amount) external;

    /// @notice This fund's balance of `token`.
    function fundingTokenBalance(address token) external view returns (uint256);

    /// @notice Committed and not remitted, of `token`, by everyone.
    function commitBalance(address token) external view returns (uint256);

    /// @notice Committed and not remitted, of `token`, by `user` for `option`.
    function commitBalance(address user, bytes32 option, address token) external view returns (uint256);

    function totals(address token)
        external
        view
        returns (uint256 commitCount, uint256 commitSum, uint256 remitCount, uint256 remitSum);

    function totals(address user, bytes32 option, address token)
        external
        view
        returns (uint256 commitCount, uint256 commitSum, uint256 remitCount, uint256 remitSum);

    /// @notice The smallest amount of one commitment.
    function minCommit() external view returns (uint256);

    /// @notice What the deployer called this fund.
    function id() external view returns (bytes32);

    /// @notice The kind of contract: 0, a sale fund.
    function KIND() external view returns (uint256);

    function VERSION() external view returns (uint256);

    /// @notice The stop mask.
    function stopped() external view returns (uint256);
}
