// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISaleFundBase} from "./ISaleFundBase.sol";

/// @title Sale fund
/// @notice Holds the funds that users commit to the options of one token sale. The user only grants an ERC-20
/// approval; an operator then pulls the approved amount (`commit`) and may refund it (`remit`).
/// @dev An option is identified by the keccak-256 hash of its id's text.
interface ISaleFund is ISaleFundBase {
    /// @notice `amount` of `token` was pulled from `user` for `option`.
    event Committed(address indexed user, bytes32 indexed option, address indexed token, uint256 amount);

    /// @notice `amount` of `token` was refunded to `user` for `option`.
    event Remitted(address indexed user, bytes32 indexed option, address indexed token, uint256 amount);

    /// @notice One row of a batch failed and had no effect. `kind` 0 is a commit.
    event BatchFail(
        uint256 kind, address indexed user, bytes32 indexed option, address indexed token, uint256 amount
    );

    /// @notice The token rejected the transfer, or a different amount arrived.
    error CommitFailed(address user, bytes32 option, address token);

    /// @notice The token rejected the refund.
    error RemitFailed(address user, bytes32 option, address token);

    /// @notice The remit is zero or exceeds the outstanding commitment.
    error InsufficientCommitment(address user, bytes32 option, address token);

    /// @notice Pulls `amount` of `token` from `user`. Requires role 2.
    function commit(address user, bytes32 option, address token, uint256 amount) external;

    /// @notice Commits row by row. A failed row emits `BatchFail` and does not affect the other rows. Requires role 2.
    function commit(
        address[] calldata users,
        bytes32[] calldata options,
        address[] calldata tokens,
        uint256[] calldata amounts
    ) external;

    /// @notice Refunds `amount` of `token` to `user`, up to the outstanding commitment. Requires role 4.
    function remit(address user, bytes32 option, address token, uint256 amount) external;

    /// @notice Refunds several users. If one refund fails, all revert. Requires role 4.
    function remit(address[] calldata users, bytes32 option, address token, uint256[] calldata amounts) external;
}
