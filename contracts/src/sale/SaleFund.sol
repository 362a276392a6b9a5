// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISaleFund} from "./ISaleFund.sol";
import {SaleFundBase} from "./SaleFundBase.sol";

/// @notice See `ISaleFund`.
contract SaleFund is ISaleFund, SaleFundBase {
    uint256 public constant VERSION = 1;

    constructor(address owner, bytes32 id_, uint256 minCommit_) SaleFundBase(owner, id_, minCommit_) {}

    function commit(address user, bytes32 option, address token, uint256 amount)
        external
        onlyRoles(COMMIT)
        running(COMMIT)
        nonReentrant
    {
        _commit(user, option, token, amount);
    }

    function commit(
        address[] calldata users,
        bytes32[] calldata options,
        address[] calldata tokens,
        uint256[] calldata amounts
    ) external onlyRoles(COMMIT) running(COMMIT) nonReentrant {
        uint256 rows = users.length;
        if (options.length != rows || tokens.length != rows || amounts.length != rows) {
            revert NonEquivalentListLength();
        }
        uint256 failed;
        for (uint256 i; i < rows; ++i) {
            _checkRowGas();
            try this.commitRow{gas: ROW_GAS}(users[i], options[i], tokens[i], amounts[i]) {}
            catch {
                ++failed;
                emit BatchFail(0, users[i], options[i], tokens[i], amounts[i]);
            }
        }
        emit Batched(0, rows - failed, failed);
    }

    /// @dev Commits one row of a batch. Only this contract may call it. The separate call lets a failure roll back only
    /// this row.
    function commitRow(address user, bytes32 option, address token, uint256 amount) external {
        if (msg.sender != address(this)) revert Unauthorized();
        _commit(user, option, token, amount);
    }

    function remit(address user, bytes32 option, address token, uint256 amount)
        external
        onlyRoles(REMIT)
        running(REMIT)
        nonReentrant
    {
        _remit(user, option, token, amount);
    }

    function remit(address[] calldata users, bytes32 option, address token, uint256[] calldata amounts)
        external
        onlyRoles(REMIT)
        running(REMIT)
        nonReentrant
    {
        uint256 rows = users.length;
        if (amounts.length != rows) revert NonEquivalentListLength();
        for (uint256 i; i < rows; ++i) {
            _remit(users[i], option, token, amounts[i]);
        }
        emit Batched(1, rows, 0);
    }

    function _commit(address user, bytes32 option, address token, uint256 amount) private {
        _checkCommit(user, amount);
        _addCommit(user, option, token, amount);
        emit Committed(user, option, token, amount);
        if (!_tryPull(token, user, amount)) revert CommitFailed(user, option, token);
    }

    function _remit(address user, bytes32 option, address token, uint256 amount) private {
        if (commitBalance(user, option, token) < amount || amount == 0) {
            revert InsufficientCommitment(user, option, token);
        }
        _addRemit(user, option, token, amount);
        emit Remitted(user, option, token, amount);
        if (!_tryPay(token, user, amount)) revert RemitFailed(user, option, token);
    }
}
